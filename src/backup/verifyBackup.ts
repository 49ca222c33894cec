import { BackupDamagedError } from '../runtime/errors.ts';
import type { BackupStorage } from './backupStorage.ts';
import { contentBytes, type Manifest } from './manifest.ts';
import { readPack } from './pack.ts';

interface BackupCheck {
  readonly files: number;
  readonly bytes: number;
  /** One line for each pack that is damaged; empty: every byte is the one that was written. */
  readonly problems: readonly string[];
}

/** Reads every byte of a backup and compares it with the manifest. Writes nothing. */
export async function verifyBackup(
  storage: BackupStorage,
  manifest: Manifest,
  onProgress: (progress: { bytes: number; totalBytes: number }) => void = () => undefined,
): Promise<BackupCheck> {
  const totalBytes = contentBytes(manifest);
  const problems: string[] = [];
  let [files, bytes] = [0, 0];
  const receiver = {
    onFile: async () => undefined,
    onBytes: async (part: Buffer) => {
      bytes += part.length;
    },
    onFileEnd: async () => {
      files++;
    },
  };
  for (const pack of manifest.packs) {
    try {
      await readPack(storage, pack, receiver);
    } catch (error) {
      if (!(error instanceof BackupDamagedError)) throw error;
      problems.push(error.message);
    }
    onProgress({ bytes, totalBytes });
  }
  return { files, bytes, problems };
}

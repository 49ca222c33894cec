import { existsSync, statSync } from 'node:fs';
import { counted } from '../runtime/counted.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import { exportedFilesBelow, verifyFile } from '../store/export/verify.ts';
import { describedFile, isManifest, manifestPath } from '../store/export/writtenFile.ts';
import { interruptible } from './failure.ts';
import { optionWord } from './optionWord.ts';
import type { BackupCommandOptions } from './runBackup.ts';

/**
 * Checks an exported file or a folder of them. The exit status is 1 unless all are as exported.
 * @param named The file, its manifest, or the folder.
 */
export async function runVerifyExports(
  named: string,
  { json: isJson = false, ...ofBackups }: BackupCommandOptions,
): Promise<void> {
  await interruptible(async (signal) => {
    const target = isManifest(named) ? describedFile(named) : named;
    const found = statSync(target, { throwIfNoEntry: false });
    // A manifest whose file is gone has its own finding.
    if (found === undefined && !existsSync(manifestPath(target))) {
      throw new InvalidInputError(`${target}: there is no such file or directory`);
    }
    refuseOptionsOfBackups(named, ofBackups);
    const paths = found?.isDirectory() ? await exportedFilesBelow(target) : [target];
    if (paths.length === 0) throw new InvalidInputError(`there is no file in ${target}`);
    let [rows, failed] = [0, 0];
    const problems: string[] = [];
    for (const path of paths) {
      signal.throwIfAborted();
      const checked = await verifyFile(path);
      rows += checked.manifest?.rows ?? 0;
      if (checked.problems.length > 0) failed++;
      problems.push(...checked.problems);
      if (!isJson) for (const problem of checked.problems) console.error(`underround: ${problem}`);
    }
    if (failed > 0) process.exitCode = 1;
    if (isJson) console.log(JSON.stringify({ files: paths.length, failed, rows, problems }));
    else if (failed === 0)
      console.log(
        `${counted(paths.length, 'file')} with ${counted(rows, 'row')} ${verb(paths.length)} as exported`,
      );
    else
      console.error(
        `underround: ${failed} of ${counted(paths.length, 'file')} ${verb(failed)} not as exported`,
      );
  });
}

/** @throws {InvalidInputError} */
function refuseOptionsOfBackups(
  named: string,
  { at, s3Endpoint, s3Region, dataDir }: BackupCommandOptions,
): void {
  for (const [name, value] of Object.entries({ at, s3Endpoint, s3Region, dataDir })) {
    if (value === undefined) continue;
    throw new InvalidInputError(
      `${named} is no backup, and ${optionWord(name)} applies to backups alone: leave it out`,
    );
  }
}

const verb = (count: number) => (count === 1 ? 'is' : 'are');

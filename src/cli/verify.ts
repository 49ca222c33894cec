import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { withStorage } from './backup.ts';
import type { BackupCommandOptions } from './runBackup.ts';

/** `underround verify`: checks exported files, or a backup. It needs no service. */
export function registerVerify(program: Command): void {
  withStorage(
    program
      .command('verify')
      .description('check exported files or a backup against their manifests: bytes, rows, hashes and gaps')
      .argument('<file|place>', 'an exported file, a folder of them, or the place of a backup')
      .option('--at <id>', 'of a backup: its id (default: the newest)'),
  ).action(async (target: string, options: BackupCommandOptions) => {
    if (await isBackup(target)) {
      const { runVerifyBackup } = await import('./runBackup.ts');
      await runVerifyBackup(target, options);
    } else {
      const { runVerifyExports } = await import('./runVerifyExports.ts');
      await runVerifyExports(target, options);
    }
  });
}

/** A place with `backups/`, as `underround backup` writes it. */
async function isBackup(target: string): Promise<boolean> {
  const { MANIFEST_PREFIX } = await import('../backup/backupStorage.ts');
  return /^[a-z0-9]+:\/\//i.test(target) || existsSync(join(target, MANIFEST_PREFIX));
}

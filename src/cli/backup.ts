import type { Command } from 'commander';
import type { BackupCommandOptions } from './runBackup.ts';

const CREDENTIALS_HELP = `
A place is a directory or s3://BUCKET/PREFIX. Credentials of S3-compatible storage are read from AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY and, if set, AWS_SESSION_TOKEN.`;

/** `underround backup` and `restore`. A service may be running. */
export function registerBackup(program: Command): void {
  withStorage(
    program
      .command('backup')
      .description('copy the data directory while a service may be using it; only what is new is copied')
      .argument('<place>', 'directory or s3://BUCKET/PREFIX')
      .option('--verify', 'then read the backup back and compare every byte'),
  ).action(async (place: string, options: BackupCommandOptions) => {
    const { runBackup } = await import('./runBackup.ts');
    await runBackup(place, options);
  });
  withStorage(
    program
      .command('restore')
      .description('make a data directory from a backup, or prove that it can be done')
      .argument('<place>', 'directory or s3://BUCKET/PREFIX')
      .option('--at <id>', 'id of the backup (default: the newest)')
      .option('--check', 'restore into a temporary directory, compare the rows, and remove it'),
  ).action(async (place: string, options: BackupCommandOptions) => {
    const { runRestore } = await import('./runBackup.ts');
    await runRestore(place, options);
  });
}

/** Adds the options that reach the storage of backups. */
export function withStorage(command: Command): Command {
  return command
    .option('--s3-endpoint <url>', 'server of an s3:// place, addressed by path')
    .option('--s3-region <region>', 'its region (AWS_REGION; default: us-east-1)')
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .option('--json', 'print JSON')
    .addHelpText('after', CREDENTIALS_HELP);
}

import { join } from 'node:path';

/**
 * The words of a command of a page, with the test's paths in place of the page's.
 * @param root For backups and restored directories.
 */
export function wordsOnPage(command: string, { root, dataDir }: { root: string; dataDir: string }): string[] {
  // Split first: the path of a test may have spaces.
  return command
    .split(' ')
    .map((word) =>
      word
        .replace('/var/backups/underround', join(root, 'backups'))
        .replace('/var/lib/underround-', join(root, 'restored-'))
        .replace('/var/lib/underround', dataDir),
    );
}

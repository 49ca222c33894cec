import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { InvalidInputError } from '../runtime/errors.ts';
import { interruptible } from './failure.ts';

/** `underround verify FILE|DIR`: checks exported files. It needs no service and no data directory. */
export function registerVerify(program: Command): void {
  program
    .command('verify')
    .description('check exported files against the manifests beside them: bytes, rows, hashes and gaps')
    .argument('<file|dir>', 'an exported file, or a folder of them')
    .option('--json', 'print the result as JSON')
    .action((target: string, options: { json?: boolean }) =>
      interruptible(async (signal) => await verify(target, { isJson: options.json === true, signal })),
    );
}

async function verify(
  target: string,
  { isJson, signal }: { isJson: boolean; signal: AbortSignal },
): Promise<void> {
  const { exportedFilesBelow, verifyFile } = await import('../store/export/verify.ts');
  const found = statSync(target, { throwIfNoEntry: false });
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
    console.log(`${paths.length} files with ${rows.toLocaleString('en-US')} rows are as exported`);
  else console.error(`underround: ${failed} of ${paths.length} files are not as exported`);
}

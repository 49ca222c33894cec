import type { Command } from 'commander';
import { printFailure } from './failure.ts';

interface ImportOptions {
  dataDir?: string;
  json?: boolean;
  again?: boolean;
}

export function registerImport(program: Command): void {
  program
    .command('import')
    .argument(
      '<file|dir>',
      'recorded frames as JSON lines of {"received_ms", "frame"} or bare frames, optionally .gz',
    )
    .description('import recorded venue frames into the store')
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .option('--again', 'also import files that were imported before; this stores their rows twice')
    .option('--json', 'print the result as JSON')
    .action(async (target: string, options: ImportOptions) => {
      try {
        await runImport(target, options);
      } catch (error) {
        printFailure(error);
        process.exitCode = 1;
      }
    });
}

async function runImport(target: string, { dataDir, json, again = false }: ImportOptions): Promise<void> {
  const [{ readSettings }, { importInto }, { OWNER_ONLY_UMASK }] = await Promise.all([
    import('./settings.ts'),
    import('./importInto.ts'),
    import('../store/engine/ownerOnly.ts'),
  ]);
  process.umask(OWNER_ONLY_UMASK);
  const config = await readSettings({ dataDir, use: 'record' });
  const result = await importInto(config, target, { again });
  if (json) console.log(JSON.stringify(result));
  else printResult(result);
}

function printResult(result: Awaited<ReturnType<typeof import('./importInto.ts')['importInto']>>): void {
  console.log(`${result.frames} frames of ${result.files} file(s), ${result.rejected} rejected`);
  if (result.skipped_files > 0)
    console.log(`${result.skipped_files} file(s) skipped, imported before; --again imports them again`);
  for (const [feed, count] of Object.entries(result.frames_by_feed))
    console.log(`  ${feed.padEnd(20)} ${count}`);
  for (const [kind, count] of Object.entries(result.recorded))
    console.log(`  recorded ${kind.padEnd(11)} ${count}`);
  for (const marketId of result.markets) console.log(`  market ${marketId}`);
}

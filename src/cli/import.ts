import type { Command } from 'commander';
import { withControl } from './control.ts';

interface ImportOptions {
  dataDir?: string;
  json?: boolean;
  again?: boolean;
}

export function registerImport(program: Command): void {
  program
    .command('import')
    .argument('<file|dir>', 'recorded frames: JSONL of {"received_ms", "frame"} or bare frames, .gz too')
    .description('play recorded frames through the recorder into the store')
    .option('--data-dir <dir>', 'instead of UNDERROUND_DATA_DIR')
    .option('--again', 'import files that were imported before; their rows are then stored twice')
    .option('--json', 'print the result as JSON')
    .action((target: string, options: ImportOptions) =>
      withControl(options, async ({ config }) => {
        const { importInto } = await import('./importInto.ts');
        const result = await importInto(config, target, { again: options.again === true });
        if (options.json) console.log(JSON.stringify(result));
        else printResult(result);
      }),
    );
}

function printResult(result: Awaited<ReturnType<typeof import('./importInto.ts')['importInto']>>): void {
  console.log(`${result.frames} frames of ${result.files} file(s), ${result.rejected} set aside`);
  if (result.skipped_files > 0)
    console.log(`${result.skipped_files} file(s) were imported before: --again repeats them`);
  for (const [feed, count] of Object.entries(result.frames_by_feed))
    console.log(`  ${feed.padEnd(20)} ${count}`);
  for (const [kind, count] of Object.entries(result.recorded))
    console.log(`  recorded ${kind.padEnd(11)} ${count}`);
  for (const marketId of result.markets) console.log(`  market ${marketId}`);
}

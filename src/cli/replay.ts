import type { Command } from 'commander';
import { EVENT_TYPES } from '../schema/market.ts';
import type { ReplayOptions } from './runReplay.ts';

const HELP = `
Prints the messages of the stream /v1/replay (docs/STREAMS.md): snapshot, gap, market and, last, end.
Name at least one of --market, --ticker and --event-type; each takes several names, separated by commas.

Examples:
  $ underround replay --ticker BTC --event-type 5m --start 2026-11-20T12:00Z --end 2026-11-20T13:00Z --speed max
  $ underround replay --market 0x.. --speed 10 --url https://books.example.com | jq .type`;

/** `underround replay`: prints a recording as the messages of `/v1/replay`. A service may be running. */
export function registerReplay(program: Command): void {
  program
    .command('replay')
    .description('print a recording as a live stream: one JSON object a line, at the pace of receipt')
    .option('--market <id>', 'market to replay')
    .option('--ticker <ticker>', 'markets on this asset')
    .option('--event-type <type>', `markets of this window: ${EVENT_TYPES.join(', ')}`)
    .option('--start <time>', 'start of receive times, inclusive (default: the oldest record)')
    .option('--end <time>', 'end of receive times, exclusive (default: now)')
    .option('--speed <n>', 'recorded seconds per second; 0 or max: as fast as possible', '1')
    .option('--data-dir <dir>', 'data directory to read (UNDERROUND_DATA_DIR)')
    .option('--url <url>', 'service to read instead (UNDERROUND_URL, with UNDERROUND_API_KEY)')
    .addHelpText('after', HELP)
    .action(async (options: ReplayOptions) => {
      const { runReplay } = await import('./runReplay.ts');
      await runReplay(options);
    });
}

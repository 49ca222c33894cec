import type { Command } from 'commander';
import { runUntilStopped } from './running.ts';

/** The port of ClickHouse's HTTP interface. */
const DEFAULT_ADDRESS = '127.0.0.1:8123';
const HELP = `
The other processes reach it with CLICKHOUSE_URL=http://underround:PASSWORD@127.0.0.1:8123. The password is the value of
UNDERROUND_STORE_PASSWORD; whoever has it may read and change everything that is stored.`;

/** `underround store`: the embedded engine for several processes of one machine. */
export function registerStore(program: Command): void {
  program
    .command('store')
    .description('serve the embedded time-series store to several processes until stopped')
    .option('--listen <host:port>', 'address to listen on', DEFAULT_ADDRESS)
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .addHelpText('after', HELP)
    .action((options: { listen: string; dataDir?: string }) =>
      runUntilStopped(async (modules) => {
        const { startStore } = await import('./runStore.ts');
        return await startStore(options, modules);
      }),
    );
}

import type { Command } from 'commander';
import { runUntilStopped } from './running.ts';

export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('record the venues and serve the API until stopped; options are environment variables')
    .action(() =>
      runUntilStopped(async ({ loadConfig, createLogger, startService, Metrics }) => {
        const config = loadConfig();
        const log = createLogger(config.logLevel);
        const service = await startService({ config, log, metrics: new Metrics(), dataSource: 'live' });
        console.log(`ready ${service.url}`);
        return service;
      }),
    );
}

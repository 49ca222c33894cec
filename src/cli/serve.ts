import type { Command } from 'commander';
import { runUntilStopped } from './running.ts';

export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('record the venues and serve the API until stopped; options are environment variables')
    .action(() =>
      runUntilStopped(async ({ loadConfig, createLogger, Metrics }) => {
        const config = loadConfig();
        const log = createLogger(config.logLevel);
        const metrics = new Metrics();
        const { reachEngine } = await import('../store/engineAccess.ts');
        const { systemClock: clock } = await import('../clock.ts');
        // First of all, because it takes as long as loading the rest.
        const engine = reachEngine({ ...config, clock, log, metrics });
        engine.catch(() => undefined);
        const { startService } = await import('../service.ts');
        const service = await startService({ config, log, metrics, dataSource: 'live', engine });
        console.log(`ready ${service.url}`);
        return service;
      }),
    );
}

import type { Command } from 'commander';
import { ROLES } from '../config.ts';
import { runUntilStopped } from './running.ts';

const FIRST_OPERATOR_HELP = `
Without an operator, a line \`setup http://...\` follows the line \`ready http://...\`. The first sign-up needs that link,
which works once. Restart to get a new link, or make an existing user the operator:
  underround users set-operator EMAIL`;

export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('record the venues and serve the API until stopped')
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .option('--roles <list>', `what this process does: ${ROLES.join(',')} (UNDERROUND_ROLES; default: all)`)
    .addHelpText('after', FIRST_OPERATOR_HELP)
    .action((options: { dataDir?: string; roles?: string }) =>
      runUntilStopped(async ({ readSettings, makeDataDirectory, createLogger, Metrics }) => {
        const { roles, dataDir } = options;
        const variables = roles === undefined ? process.env : { ...process.env, UNDERROUND_ROLES: roles };
        const config = await readSettings({ dataDir, use: 'record', listens: true }, variables);
        // Before the recording is opened; collectors and writers do not use the database.
        if (
          config.databaseUrl !== null &&
          config.roles.some((role) => role !== 'collect' && role !== 'write')
        ) {
          const { requireKnownPostgres } = await import('../upgrade/newerData.ts');
          await requireKnownPostgres(config.databaseUrl);
        }
        makeDataDirectory(config.dataDir);
        const log = createLogger(config.logLevel);
        const metrics = new Metrics();
        metrics.addProcess();
        const { reachEngine } = await import('../store/engine/engineAccess.ts');
        const { systemClock: clock } = await import('../runtime/clock.ts');
        // Start the engine first: it takes as long as loading the other modules.
        const engine = reachEngine({ ...config, clock, log, metrics });
        engine.catch(() => undefined);
        const { startService } = await import('../service/startService.ts');
        const service = await startService({ config, log, metrics, dataSource: 'live', engine });
        const link = (await service.accounts?.setup.link(service.url)) ?? null;
        console.log(`ready ${service.url}`);
        // Printed on standard output only, because logs are stored and forwarded.
        if (link !== null) console.log(`setup ${link}   (makes you the operator; works once)`);
        return service;
      }),
    );
}

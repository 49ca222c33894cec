import type { Command } from 'commander';
import type { MigrationPlan } from '../upgrade/migrationPlan.ts';
import { printFailure } from './failure.ts';

interface MigrateOptions {
  readonly dryRun?: boolean;
  readonly dataDir?: string;
  readonly json?: boolean;
}

const HELP = `
\`underround serve\` applies the same migrations when it starts. With --dry-run nothing is changed and a service may be
running; the migrations of a SQLite file are run on a copy of it. docs/UPGRADING.md describes an upgrade.`;

/** `underround migrate`: lists or applies the migrations of the control database and of the store. */
export function registerMigrate(program: Command): void {
  program
    .command('migrate')
    .description('bring the control database and the store to this release, or list what that would change')
    .option('--dry-run', 'list the migrations that are due, and change nothing')
    .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (options: MigrateOptions) => {
      try {
        await run(options);
      } catch (error) {
        printFailure(error);
        process.exitCode = 1;
      }
    });
}

async function run({ dryRun = false, dataDir, json = false }: MigrateOptions): Promise<void> {
  const [{ readSettings }, { OWNER_ONLY_UMASK }] = await Promise.all([
    import('./settings.ts'),
    import('../store/engine/ownerOnly.ts'),
  ]);
  process.umask(OWNER_ONLY_UMASK);
  const config = await readSettings({ dataDir, use: 'use accounts' });
  const [{ planMigrations, applyMigrations, tryOnCopy }, { systemClock: clock }, { createLogger }] =
    await Promise.all([
      import('../upgrade/migrationPlan.ts'),
      import('../runtime/clock.ts'),
      import('../runtime/log.ts'),
    ]);
  const parts = { config, clock, log: createLogger(config.logLevel) };
  const plan = await planMigrations(parts);
  const isTried = dryRun && plan.control.kind === 'sqlite' && plan.control.pending.length > 0;
  if (isTried) await tryOnCopy(config.dataDir);
  if (!dryRun) await applyMigrations(parts, plan);
  if (json) console.log(JSON.stringify({ ...plan, applied: !dryRun }));
  else for (const line of linesOf(plan, { dryRun, isTried })) console.log(line);
}

function linesOf({ control, store }: MigrationPlan, how: { dryRun: boolean; isTried: boolean }): string[] {
  const due = control.pending.length + store.pending.length;
  const lines = [
    control.kind === 'none'
      ? 'control database: none yet'
      : `control database (${control.kind}): ${control.applied.length} migrations applied, ${control.pending.length} due`,
    ...control.pending.map((name) => `  ${name}`),
    store.kind === 'none'
      ? 'store: none yet'
      : `store (${store.kind}): version ${store.version} of ${store.newest}, ${store.pending.length} due`,
    ...store.pending.flatMap(({ number, name, statements }) => [
      `  ${number} ${name}`,
      ...statements.map((statement) => `    ${statement}`),
    ]),
  ];
  if (!how.dryRun) return [...lines, due === 0 ? 'nothing was due' : 'all are applied'];
  if (how.isTried) lines.push('the migrations of the control database succeed on a copy of it');
  return [...lines, 'nothing was changed'];
}

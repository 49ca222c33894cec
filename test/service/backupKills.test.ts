import { expect, it } from 'vitest';
import { runBackupRounds, runRestoreRounds } from '../crash/faults/backupRounds.ts';
import { runMigrationRounds } from '../crash/faults/migrationRounds.ts';
import { commandAbsent } from '../support/builtCommand.ts';

const OPTIONS = { rounds: 3, seed: 'suite', density: 0.05, progress: () => undefined };

it.skipIf(commandAbsent)('a backup that is killed leaves the old backups or a complete new one', async () => {
  const { between, commandsFailed, startsFailed } = await runBackupRounds(OPTIONS);
  expect({ between, commandsFailed, startsFailed }).toEqual({
    between: 0,
    commandsFailed: 0,
    startsFailed: 0,
  });
});

it.skipIf(commandAbsent)('a restore that is killed leaves a complete directory or none', async () => {
  const { between, commandsFailed, startsFailed } = await runRestoreRounds(OPTIONS);
  expect({ between, commandsFailed, startsFailed }).toEqual({
    between: 0,
    commandsFailed: 0,
    startsFailed: 0,
  });
});

it.skipIf(commandAbsent)('a migration that is killed leaves every database at a number', async () => {
  const { between, commandsFailed, missing } = await runMigrationRounds({ ...OPTIONS, rounds: 2 });
  expect({ between, commandsFailed, missing }).toEqual({ between: 0, commandsFailed: 0, missing: 0 });
});

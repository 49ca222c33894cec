import type { Fault, FaultRunOptions } from '../command.ts';
import { type CopyRoundsResult, runBackupRounds, runRestoreRounds } from './backupRounds.ts';
import { runBackupTruth } from './backupTruth.ts';
import { runClusterRounds } from './clusterRounds.ts';
import { runDiskRounds } from './diskRounds.ts';
import type { FaultOptions, FaultResult } from './faultRig.ts';
import { runKillRounds } from './killRounds.ts';
import { runLimitRounds } from './limitRounds.ts';
import { runMigrationRounds } from './migrationRounds.ts';
import { runPowerRounds } from './powerRounds.ts';
import { runSlowDiskRounds, runStallRounds, runStarveRounds } from './slowRounds.ts';

/** The run of each `--fault`. */
export const FAULT_RUNS: Record<
  Fault,
  (options: FaultOptions & FaultRunOptions) => Promise<FaultResult | CopyRoundsResult>
> = {
  kill: runKillRounds,
  'disk-full': runDiskRounds,
  'slow-disk': runSlowDiskRounds,
  power: runPowerRounds,
  stall: runStallRounds,
  starve: runStarveRounds,
  descriptors: (options) => runLimitRounds('descriptors', options),
  memory: (options) => runLimitRounds('memory', options),
  cluster: runClusterRounds,
  backup: runBackupRounds,
  restore: runRestoreRounds,
  migration: runMigrationRounds,
  'backup-truth': runBackupTruth,
};

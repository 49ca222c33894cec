import { CORE_MUTANTS } from './coreMutants.ts';
import type { TestedMutant } from './mutant.ts';
import { RECORDING_MUTANTS } from './recordingMutants.ts';
import { SERVING_MUTANTS } from './servingMutants.ts';
import { VENUE_MUTANTS } from './venueMutants.ts';

/** Every deliberate fault. */
export const MUTANTS: readonly TestedMutant[] = [
  ...CORE_MUTANTS,
  ...VENUE_MUTANTS,
  ...RECORDING_MUTANTS,
  ...SERVING_MUTANTS,
];

import { answeredBooksEqualTruth } from './checks/answeredBooks.ts';
import { answeredSignalsAudited } from './checks/answeredSignals.ts';
import { answersDocumented, readyMeansWorking } from './checks/answersHonest.ts';
import { answersEqualPublished } from './checks/answersPublished.ts';
import type { Check, Violation } from './checks/check.ts';
import {
  auditedBeforePublished,
  deliveriesArrive,
  liveEqualsReplay,
  moneyConserved,
  noSignalOrFillInGaps,
} from './checks/effects.ts';
import { liveNeverGoesBack, noBookTwice, readersAgree } from './checks/merging.ts';
import { bookEqualsTruth, booksRecover, lostRowsInGaps, noTrustInGaps } from './checks/recording.ts';
import type { Scenario } from './scenario.ts';
import { Cluster } from './world/cluster.ts';
import { Trace } from './world/trace.ts';
import { World } from './world/world.ts';

const ALL: readonly Check[] = [
  bookEqualsTruth,
  lostRowsInGaps,
  noTrustInGaps,
  booksRecover,
  auditedBeforePublished,
  moneyConserved,
  noSignalOrFillInGaps,
  deliveriesArrive,
  liveEqualsReplay,
  answeredBooksEqualTruth,
  answersEqualPublished,
  answeredSignalsAudited,
  readyMeansWorking,
  answersDocumented,
];

const ALL_OF_CLUSTER: readonly Check<Cluster>[] = [
  bookEqualsTruth,
  lostRowsInGaps,
  booksRecover,
  readersAgree,
  liveNeverGoesBack,
  noBookTwice,
];

export interface RunResult {
  readonly violations: readonly Violation[];
  /** The hash of all events. */
  readonly trace: string;
  readonly events: number;
  /** How long the world ran, in its own time. */
  readonly virtualMs: number;
}

/** Runs a scenario. @param print Receives each line of the trace. */
export async function runScenario(
  scenario: Scenario,
  print: ((line: string) => void) | null = null,
): Promise<RunResult> {
  const trace = new Trace(print);
  const world =
    scenario.collectors === 1
      ? new World(scenario, { checks: ALL, trace })
      : new Cluster(scenario, { checks: ALL_OF_CLUSTER, trace });
  await world.run();
  const { violations, time } = world;
  return { violations, trace: trace.head, events: trace.count, virtualMs: time.nowMs };
}

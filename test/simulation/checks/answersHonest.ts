import type { ReadinessReport } from '../../../src/ops/readiness.ts';
import type { Scenario } from '../scenario.ts';
import type { Answered, QuestionKind } from '../world/apiClient.ts';
import type { Health, World } from '../world/world.ts';
import type { Check } from './check.ts';

/** The documented limits of readiness, each with a little time until its next check. */
const JOURNAL_FAILING_MS = 150;
const LAG_MS = 10_050;
const ENGINE_AWAY_MS = 6_050;
const SILENT_MS = 10_050;
/** Silence is measured by the wall clock: a step back hides this much of it. */
const STEP_BACK_MS = 8_000;
/** Once its cause is gone, a service is ready again after this long: the engine is probed every 2 s. */
const READY_AGAIN_MS = 4_500;
/** The status page is made once a second. */
const STATUS_KEPT_MS = 1_050;
/** A request is answered within this time, even while the engine is away. */
const ANSWERED_MS = 5_000;

/** Readiness is red, or names a silent feed, while something does not work; and it is not red without a cause. */
export const readyMeansWorking: Check = {
  name: 'api_ready_means_working',
  begin(world, report) {
    let wellSinceMs = world.time.nowMs;
    world.onAnswer(({ kind, status, body, askedMs }) => {
      const health = world.health();
      if (health === null) return;
      const [faults, silentMs] = [faultsAt(askedMs, health, world.scenario), silenceAt(askedMs, health)];
      if (!isWell(askedMs, health, world.scenario)) wellSinceMs = askedMs;
      if (kind === 'status') {
        const { state } = body as { state: string };
        const since = faultsAt(askedMs - STATUS_KEPT_MS, health, world.scenario);
        if (state === 'ok' && since.length > 0 && faults.length > 0)
          report(`the status page is ok at ${askedMs}: ${since}`);
      }
      if (kind !== 'ready') return;
      const { degraded } = body as ReadinessReport;
      if (status === 200 && faults.length > 0) report(`ready at ${askedMs} although ${faults}`);
      if (silentMs > silentLimitMs(world.scenario) && degraded.length === 0)
        report(`nothing is degraded at ${askedMs}, but the feed is silent for ${silentMs} ms`);
      if (status === 503 && askedMs - wellSinceMs > READY_AGAIN_MS)
        report(`not ready at ${askedMs}, all is well since ${wellSinceMs}: ${JSON.stringify(body)}`);
    });
  },
  async end(world, report) {
    const ready = await world.readiness();
    if (ready !== null && ready.status !== 200) report(`at the end: ${ready.body}`);
  },
};

/** Why the service cannot be ready at a time. */
function faultsAt(timeMs: number, health: Health, scenario: Scenario): string[] {
  const faults: string[] = [];
  const { journalFailingSinceMs, startedMs, storeLagMs } = health;
  if (journalFailingSinceMs !== null && timeMs - journalFailingSinceMs > JOURNAL_FAILING_MS)
    faults.push(`the journal fails since ${journalFailingSinceMs}`);
  if (storeLagMs > LAG_MS + STATUS_KEPT_MS) faults.push(`the store lags by ${storeLagMs} ms`);
  const away = awayAt(timeMs, scenario);
  if (away !== undefined && timeMs - Math.max(away.atMs, startedMs) > ENGINE_AWAY_MS)
    faults.push(`the engine is away since ${away.atMs}`);
  return faults;
}

function awayAt(timeMs: number, { faults }: Scenario) {
  return faults.find(
    ({ kind, atMs, lastsMs }) => kind === 'store_away' && atMs < timeMs && timeMs < atMs + lastsMs,
  );
}

function isWell(timeMs: number, { journalFailingSinceMs, storeLagMs }: Health, scenario: Scenario): boolean {
  return journalFailingSinceMs === null && storeLagMs < LAG_MS / 2 && awayAt(timeMs, scenario) === undefined;
}

function silenceAt(timeMs: number, { lastFrameMs, startedMs }: Health): number {
  return timeMs - Math.max(lastFrameMs ?? 0, startedMs);
}

function silentLimitMs({ faults }: Scenario): number {
  return SILENT_MS + (faults.some(({ kind }) => kind === 'clock_step') ? STEP_BACK_MS : 0);
}

/** Statuses of a request that is not simply answered. */
const REFUSALS: Partial<Record<QuestionKind, readonly number[]>> = {
  // Before the first book.
  book: [200, 404],
  book_at: [200, 404],
  ready: [200, 503],
  unknown_market: [404],
  invalid: [422],
  no_key: [401],
};

/**
 * Every request is answered: as the API's description says, never by 500, and by 502 only while the engine is away. The
 * client compares each answer with the description.
 */
export const answersDocumented: Check = {
  name: 'api_answers_documented',
  begin(world, report) {
    world.onAnswer(
      (answered) => {
        const { kind, url, status } = answered;
        if (status === 502 ? wasAway(answered, world) : (REFUSALS[kind] ?? [200]).includes(status)) return;
        report(`${url} is answered with ${status}: ${JSON.stringify(answered.body)}`);
      },
      ({ url, error }) => report(`${url}: ${error}`),
    );
  },
  end({ client, time }, report) {
    for (const { url, askedMs } of client.waiting)
      if (time.nowMs - askedMs > ANSWERED_MS) report(`${url} of ${askedMs} has no answer`);
  },
};

/** Whether the engine was away during a request. */
function wasAway({ askedMs, answeredMs }: Answered, { scenario }: World): boolean {
  return scenario.faults.some(
    ({ kind, atMs, lastsMs }) => kind === 'store_away' && atMs <= answeredMs && askedMs <= atMs + lastsMs,
  );
}

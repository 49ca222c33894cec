import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { DriftKeeper } from './driftKeeper.ts';
import { readDriftReport } from './driftReport.ts';
import { Quarantine } from './quarantine.ts';

const T0 = 1_795_176_010_000;
const DAY_MS = 86_400_000;
const FIELD = {
  category: 'unknown_field',
  feed: 'polymarket.gamma',
  kind: 'event',
  key: 'markets[].cap',
} as const;
let dataDir: string;
let clock: FakeClock;
/** What the log says of findings. */
let logged: object[];

beforeEach(() => {
  dataDir = temporaryDirectory();
  clock = new FakeClock(T0);
  logged = [];
});

async function running() {
  const metrics = new Metrics();
  const warn = (line: object, event: string) => void (event === 'venue_drift.found' && logged.push(line));
  const log = { ...silentLogger, warn } as never;
  const keeper = new DriftKeeper({ dataDir, clock, log, metrics });
  await keeper.start();
  return { keeper, metrics, drift: metrics.venueDrift };
}
const setAside = (text: string) => ({ feed: 'f', kind: 'k', reason: 'r', receivedTimeMs: T0, text });

it('continues the findings after a restart', async () => {
  const first = await running();
  first.drift.note(FIELD, T0, () => 1);
  first.drift.setAside(setAside('a'));
  await first.keeper.close();
  const second = await running();
  second.drift.note(FIELD, T0 + 5, () => 2);
  await second.keeper.close();
  const { findings, savedMs } = await readDriftReport(dataDir, T0);
  expect(findings).toEqual([{ ...FIELD, firstSeenMs: T0, lastSeenMs: T0 + 5, count: 2, sample: '1' }]);
  expect(savedMs).toBe(T0);
  expect((await new Quarantine(dataDir).frames()).map(({ text }) => text)).toEqual(['a']);
});

it('logs each finding once, with its sample, however many restarts follow', async () => {
  const first = await running();
  first.drift.note(FIELD, T0, () => 1);
  await first.keeper.save();
  first.drift.note(FIELD, T0 + 1, () => 2);
  await first.keeper.close();
  const second = await running();
  second.drift.note(FIELD, T0 + 2, () => 3);
  second.drift.note({ ...FIELD, key: 'fresh' }, T0 + 2, () => 4);
  second.drift.note({ ...FIELD, kind: 'market' }, T0 + 2, () => 5);
  await second.keeper.close();
  expect(logged).toEqual([
    { ...FIELD, sample: '1' },
    { ...FIELD, key: 'fresh', sample: '4' },
    { ...FIELD, kind: 'market', sample: '5' },
  ]);
});

it('saves an empty report at the start, and saves each finding within 10 s', async () => {
  const { keeper, drift } = await running();
  expect(await readDriftReport(dataDir, T0)).toEqual({ savedMs: T0, findings: [], overflow: [] });
  await clock.advance(10_000);
  await keeper.save();
  expect((await readDriftReport(dataDir, T0)).savedMs).toBe(T0);
  drift.note(FIELD, T0, () => 1);
  await clock.advance(10_000);
  await keeper.save();
  expect((await readDriftReport(dataDir, T0)).findings).toHaveLength(1);
  await keeper.close();
});

it('forgets findings after 30 days, and those that this version knows', async () => {
  const { keeper, drift } = await running();
  drift.note(FIELD, T0 - 31 * DAY_MS, () => 1);
  drift.note({ ...FIELD, key: 'markets[].version' }, T0, () => 'v2');
  drift.note({ ...FIELD, key: 'fresh' }, T0 - 29 * DAY_MS, () => 1);
  for (const days of [40, 29]) drift.note({ ...FIELD, key: 'seen again' }, T0 - days * DAY_MS, () => 1);
  await keeper.close();
  const { findings } = await readDriftReport(dataDir, T0);
  expect(findings.map(({ key }) => key).sort()).toEqual(['fresh', 'seen again']);
});

it('forgets how many findings a kind had beyond its limit with the last finding of the kind', async () => {
  const { key: _, ...event } = FIELD;
  const seen = { firstSeenMs: T0, lastSeenMs: T0, count: 1, sample: null };
  const overflow = [
    { ...event, count: 3 },
    { ...event, kind: 'market', count: 4 },
  ];
  const report = { savedMs: T0, findings: [{ ...FIELD, ...seen }], overflow };
  writeFileSync(join(dataDir, 'venue-drift.json'), JSON.stringify(report));
  expect(await readDriftReport(dataDir, T0)).toEqual({ ...report, overflow: overflow.slice(0, 1) });
});

it('saves a finding that is noted during a save with the next one', async () => {
  const { keeper, drift } = await running();
  const findings = drift.findings.bind(drift);
  let reads = 0;
  drift.findings = () => {
    const found = findings();
    // The log reads them first, then the report.
    if (++reads === 2) drift.note({ ...FIELD, key: 'meanwhile' }, T0, () => 2);
    return found;
  };
  drift.note(FIELD, T0, () => 1);
  await keeper.save();
  await keeper.close();
  const saved = await readDriftReport(dataDir, T0);
  expect(saved.findings.map(({ key }) => key)).toEqual([FIELD.key, 'meanwhile']);
});

it('ends each save before the next one begins', async () => {
  const { keeper, metrics, drift } = await running();
  const saves = [1, 2, 3, 4, 5].map((value) => {
    drift.note({ ...FIELD, key: `key ${value}` }, T0, () => value);
    return keeper.save();
  });
  await Promise.all(saves);
  const failures = metrics.registry.getSingleMetricAsString('underround_venue_drift_save_failures_total');
  expect(await failures).toMatch(/total 0$/m);
  expect((await readDriftReport(dataDir, T0)).findings).toHaveLength(5);
  await keeper.close();
});

it('saves and checks nothing after close()', async () => {
  const { keeper } = await running();
  await keeper.close();
  expect(clock.waiting).toBe(0);
});

it('forgets findings after 30 days of one run too', async () => {
  const { keeper, drift } = await running();
  drift.note(FIELD, T0 - 30 * DAY_MS + 30_000, () => 1);
  await clock.advance(1_000);
  expect(drift.findings()).toHaveLength(1);
  await clock.advance(60_000);
  expect(drift.findings()).toEqual([]);
  await keeper.close();
});

it('reports that the report cannot be read, which is not that there is none', async () => {
  expect(await readDriftReport(dataDir, T0)).toEqual({ savedMs: null, findings: [], overflow: [] });
  mkdirSync(join(dataDir, 'venue-drift.json'));
  await expect(readDriftReport(dataDir, T0)).rejects.toThrow(/^EISDIR/);
});

it('moves a damaged report aside and starts an empty one', async () => {
  const path = join(dataDir, 'venue-drift.json');
  writeFileSync(path, '{"findings":');
  await expect(readDriftReport(dataDir, T0)).rejects.toThrow(
    new InvalidInputError(`drift report ${path} is damaged`),
  );
  const { keeper, drift } = await running();
  expect(readFileSync(`${path}.damaged`, 'utf8')).toBe('{"findings":');
  expect(drift.findings()).toEqual([]);
  await keeper.close();
});

it('starts also when a damaged report cannot be moved aside', async () => {
  const path = join(dataDir, 'venue-drift.json');
  writeFileSync(path, '{"findings":');
  mkdirSync(`${path}.damaged`);
  const { keeper } = await running();
  expect(await readDriftReport(dataDir, T0)).toEqual({ savedMs: T0, findings: [], overflow: [] });
  await keeper.close();
});

it('counts silent topics by minutes', async () => {
  const { keeper, drift } = await running();
  drift.topics.subscribed('polymarket.rtds', ['twap btc/usd'], T0);
  await clock.advance(720_000);
  expect(drift.findings()).toMatchObject([{ category: 'silent_topic', key: 'twap btc/usd', count: 3 }]);
  await keeper.close();
});

it('counts a failed write, and writes the same frames with the next save', async () => {
  const { keeper, metrics, drift } = await running();
  const place = join(dataDir, 'quarantine');
  // A file where the folder should be: no frame can be stored.
  writeFileSync(place, '');
  chmodSync(place, 0o600);
  drift.setAside(setAside('a'));
  await keeper.save();
  // The report does not depend on the frames.
  expect((await readDriftReport(dataDir, T0)).savedMs).toBe(T0);
  expect(
    await metrics.registry.getSingleMetricAsString('underround_venue_drift_save_failures_total'),
  ).toMatch(/total 1$/m);
  rmSync(place);
  await keeper.close();
  expect((await new Quarantine(dataDir).frames()).map(({ text }) => text)).toEqual(['a']);
});

it('saves a finding within ten seconds', async () => {
  const { keeper, drift } = await running();
  drift.note(FIELD, T0, () => 1);
  const saved = async () => (await readDriftReport(dataDir, T0)).findings.length;
  await clock.advance(9_999);
  expect(await saved()).toBe(0);
  await clock.advance(1);
  await expect.poll(saved).toBe(1);
  await keeper.close();
});

import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  answering,
  openTestWebhooks,
  replied,
  states,
  type TestWebhooks,
} from '../../../test/support/webhooks.ts';
import type { SystemFinding } from '../../ops/systemFindings.ts';
import { silentLogger } from '../../runtime/log.ts';
import { SYSTEM_EVENTS } from '../../schema/notification.ts';
import type { SystemEvent } from '../../schema/systemEvent.ts';
import { formatTime } from '../../schema/time.ts';
import type { Dispatcher } from '../delivery/dispatcher.ts';
import { pausedFindings } from '../delivery/service.ts';
import type { SoleSender } from '../delivery/soleSender.ts';
import { IncidentRepository } from './incidents.ts';
import { CALM_MS } from './incidentTracker.ts';
import { SystemWatch } from './systemWatch.ts';

const PERIOD_MS = 5_000;
const LAG: SystemFinding = {
  ...{ event: 'system.lag', subject: 'store', level: 'bad', summary: 'Stored data is 11 s behind.' },
};

/** Of a process that dies before it stores an event. */
const LOSING = { isSending: true, enqueueSystemEvent: () => undefined } as unknown as Dispatcher;

async function rig(events: readonly ('system.lag' | 'system.gap' | 'opportunity')[] = ['system.lag']) {
  const t = await openTestWebhooks();
  await t.db.updateTable('users').set({ operator_ms: 1 }).execute();
  await t.register({ events });
  const to = answering(t, () => 200);
  const found: { findings: readonly SystemFinding[] | Error } = { findings: [] };
  const watchOver = (sender: Dispatcher) => watching(t, sender, found);
  const sent = () => to.attempts.map(({ delivery }) => JSON.parse(delivery.body.toString()) as SystemEvent);
  return { t, to, found, watchOver, sent };
}

function watching(
  t: TestWebhooks,
  sender: Dispatcher,
  found: { findings: readonly SystemFinding[] | Error },
): SystemWatch {
  const watch = new SystemWatch({
    ...{ db: t.db, sender, url: 'https://u.example.com/status', clock: t.clock, randomBytes },
    ...{ log: silentLogger, metrics: t.metrics },
    findings: async () => {
      if (found.findings instanceof Error) throw found.findings;
      return found.findings;
    },
  });
  watch.start();
  onTestFinished(() => watch.close());
  return watch;
}

describe('an incident', () => {
  it('is sent once when it begins and once when it ends, after a minute without it', async () => {
    const { t, to, found, watchOver, sent } = await rig();
    watchOver(await t.dispatcher(to));
    found.findings = [LAG];
    await t.clock.advance(6 * PERIOD_MS);
    expect(sent()).toMatchObject([
      { type: 'system.lag', state: 'began', subject: 'store', ended_at: null, summary: LAG.summary },
    ]);
    found.findings = [];
    await t.clock.advance(CALM_MS + 3 * PERIOD_MS);
    const [began, ended] = sent();
    expect(sent()).toHaveLength(2);
    expect(ended).toMatchObject({
      state: 'ended',
      incident_id: began!.incident_id,
      began_at: began!.began_at,
    });
    expect(Date.parse(ended!.ended_at!) - Date.parse(began!.began_at)).toBe(6 * PERIOD_MS);
    expect(ended!.url).toBe('https://u.example.com/status');
  });

  it('does not begin between the limits, and does not end there either', async () => {
    const { t, to, found, watchOver, sent } = await rig();
    watchOver(await t.dispatcher(to));
    const between = [{ ...LAG, level: 'between' }] as const;
    found.findings = between;
    await t.clock.advance(CALM_MS);
    expect(sent()).toEqual([]);
    found.findings = [LAG];
    await t.clock.advance(PERIOD_MS);
    found.findings = between;
    await t.clock.advance(5 * CALM_MS);
    expect(sent().map(({ state }) => state)).toEqual(['began']);
  });

  it('that returns within the minute is the same one', async () => {
    const { t, to, found, watchOver, sent } = await rig();
    watchOver(await t.dispatcher(to));
    for (let round = 0; round < 10; round++) {
      found.findings = round % 2 === 0 ? [LAG] : [];
      await t.clock.advance(CALM_MS - PERIOD_MS);
    }
    expect(sent().map(({ state }) => state)).toEqual(['began']);
  });

  it('does not end because nothing can be evaluated', async () => {
    const { t, to, found, watchOver, sent } = await rig();
    watchOver(await t.dispatcher(to));
    found.findings = [LAG];
    await t.clock.advance(PERIOD_MS);
    found.findings = new Error('the database is away');
    await t.clock.advance(10 * CALM_MS);
    expect(sent().map(({ state }) => state)).toEqual(['began']);
  });

  it('goes to operators only, and only where it is wanted', async () => {
    const { t, to, found, watchOver } = await rig(['system.gap', 'opportunity']);
    await t.register({ events: ['system.lag'] });
    watchOver(await t.dispatcher(to));
    await t.db.updateTable('users').set({ operator_ms: null }).execute();
    found.findings = [LAG];
    await t.clock.advance(3 * PERIOD_MS);
    expect(to.attempts).toEqual([]);
  });

  it('of a killed process is continued by the next one, and its event arrives under the same id', async () => {
    const { t, to, found, watchOver } = await rig();
    const ids: string[] = [];
    const dead = await t.dispatcher(
      {
        attempt: async (_, { deliveryId }) => {
          ids.push(deliveryId);
          return replied(500, t.clock);
        },
      },
      'killed',
    );
    const first = watchOver(dead);
    found.findings = [LAG];
    await t.clock.advance(PERIOD_MS + 100);
    await first.close();
    await dead.close();
    watchOver(await t.dispatcher(to));
    await t.clock.advance(4 * PERIOD_MS);
    expect(ids).toHaveLength(1);
    expect(to.attempts.map(({ delivery }) => delivery.deliveryId)).toEqual(ids);
    expect(await t.db.selectFrom('system_incidents').selectAll().execute()).toHaveLength(1);
  });

  it('whose process died before its event was accepted is sent by the next one', async () => {
    const { t, to, found, watchOver, sent } = await rig();
    const first = watchOver(LOSING);
    found.findings = [LAG];
    await t.clock.advance(PERIOD_MS);
    await first.close();
    watchOver(await t.dispatcher(to));
    await t.clock.advance(3 * PERIOD_MS);
    expect(sent().map(({ state }) => state)).toEqual(['began']);
  });

  it('whose process died before its end was accepted is ended by the next one, however long ago it began', async () => {
    const { t, to, found, watchOver, sent } = await rig();
    const first = watchOver(LOSING);
    found.findings = [LAG];
    await t.clock.advance(PERIOD_MS);
    const beganMs = t.clock.now() - 2 * 86_400_000;
    await t.db.updateTable('system_incidents').set({ began_ms: beganMs }).execute();
    await t.db.updateTable('webhooks').set({ active_since_ms: 0 }).execute();
    found.findings = [];
    await t.clock.advance(CALM_MS + PERIOD_MS);
    await first.close();
    watchOver(await t.dispatcher(to));
    await t.clock.advance(3 * PERIOD_MS);
    expect(sent()).toMatchObject([{ state: 'ended', began_at: formatTime(beganMs) }]);
    // The beginning is too old to be sent.
    expect(await states(t)).toEqual(['delivered']);
  });

  it('of which no event was accepted is sent by the next process with its beginning and its end', async () => {
    const { t, to, found, watchOver, sent } = await rig();
    const first = watchOver(LOSING);
    found.findings = [LAG];
    await t.clock.advance(PERIOD_MS);
    const beganMs = t.clock.now();
    found.findings = [];
    await t.clock.advance(CALM_MS + PERIOD_MS);
    await first.close();
    watchOver(await t.dispatcher(to));
    await t.clock.advance(3 * PERIOD_MS);
    const began_at = formatTime(beganMs);
    expect(sent()).toMatchObject([
      { state: 'began', began_at, ended_at: null },
      { state: 'ended', began_at, ended_at: formatTime(beganMs + PERIOD_MS) },
    ]);
  });

  it('is found by one process of several: the one that sends', async () => {
    const { t, to, found, watchOver, sent } = await rig();
    let sender = 0;
    const soleOf = (own: number): SoleSender => ({ isUs: async () => sender === own, leave: async () => {} });
    for (const own of [0, 1]) watchOver(await t.dispatcher(to, 'closed', soleOf(own)));
    found.findings = [LAG];
    await t.clock.advance(3 * PERIOD_MS);
    sender = 1;
    await t.clock.advance(3 * PERIOD_MS);
    found.findings = [];
    await t.clock.advance(2 * CALM_MS);
    expect(sent().map(({ state }) => state)).toEqual(['began', 'ended']);
  });

  it('does not end by what its process found before another one sent for a while', async () => {
    const { t, to, found, watchOver, sent } = await rig();
    let isUs = true;
    watchOver(await t.dispatcher(to, 'closed', { isUs: async () => isUs, leave: async () => {} }));
    found.findings = [LAG];
    await t.clock.advance(2 * PERIOD_MS);
    found.findings = [];
    await t.clock.advance(2 * PERIOD_MS);
    isUs = false;
    await t.clock.advance(4 * CALM_MS);
    isUs = true;
    await t.clock.advance(CALM_MS);
    expect(sent().map(({ state }) => state)).toEqual(['began']);
    await t.clock.advance(3 * PERIOD_MS);
    expect(sent().map(({ state }) => state)).toEqual(['began', 'ended']);
  });
});

it.each(['began', 'ended'] as const)(
  'an incident that another process %s meanwhile is sent with beginning and end',
  async (state) => {
    const { t, to, found, watchOver, sent } = await rig();
    watchOver(await t.dispatcher(to));
    await t.clock.advance(PERIOD_MS);
    const other = new IncidentRepository(t.db, { clock: t.clock, randomBytes });
    if (state === 'began') await other.begin(LAG);
    found.findings = [LAG];
    await t.clock.advance(2 * PERIOD_MS);
    found.findings = [];
    await t.clock.advance(PERIOD_MS);
    const [open] = await other.open();
    if (state === 'ended') await other.end(open!, t.clock.now());
    await t.clock.advance(CALM_MS + 2 * PERIOD_MS);
    expect(sent().map((event) => [event.state, event.incident_id])).toEqual([
      ['began', open?.incidentId],
      ['ended', open?.incidentId],
    ]);
  },
);

it('no evaluation begins while another lasts; closing waits for that one, and leaves no timer', async () => {
  const { t } = await rig();
  let evaluations = 0;
  let evaluated: () => void = () => undefined;
  const watch = new SystemWatch({
    ...{ db: t.db, sender: LOSING, url: null, clock: t.clock, randomBytes },
    ...{ log: silentLogger, metrics: t.metrics },
    findings: () =>
      new Promise((resolve) => {
        evaluations++;
        evaluated = () => resolve([LAG]);
      }),
  });
  watch.start();
  await t.clock.advance(3 * PERIOD_MS);
  expect(evaluations).toBe(1);
  let isClosed = false;
  const closed = watch.close().then(() => {
    isClosed = true;
  });
  await t.clock.advance(0);
  expect([isClosed, t.clock.waiting]).toEqual([false, 0]);
  evaluated();
  await closed;
  expect(await t.db.selectFrom('system_incidents').selectAll().execute()).toHaveLength(1);
});

it('incidents are counted by kind, and the open ones are shown', async () => {
  const { t, to, found, watchOver } = await rig();
  watchOver(await t.dispatcher(to));
  const values = async (name: string) =>
    (await t.metrics.registry.getSingleMetric(name)!.get()).values.map(({ labels, value }) => [
      labels,
      value,
    ]);
  const open = async () =>
    (await values('underround_system_incidents_open')).filter(([, value]) => value !== 0);
  expect(await values('underround_system_incidents_open')).toEqual(
    SYSTEM_EVENTS.map((event) => [{ event }, 0]),
  );
  found.findings = [LAG, { ...LAG, subject: 'journal' }];
  await t.clock.advance(PERIOD_MS);
  expect(await open()).toEqual([[{ event: 'system.lag' }, 2]]);
  found.findings = [];
  await t.clock.advance(CALM_MS + PERIOD_MS);
  expect(await open()).toEqual([]);
  expect(await values('underround_system_events_total')).toEqual([
    [{ event: 'system.lag', state: 'began' }, 2],
    [{ event: 'system.lag', state: 'ended' }, 2],
  ]);
});

it('an ended incident is kept for ninety days', async () => {
  const t = await openTestWebhooks();
  const incidents = new IncidentRepository(t.db, { clock: t.clock, randomBytes });
  const subjects = async () => (await incidents.since(0)).map(({ subject }) => subject);
  const ended = async (subject: string) => {
    const begun = (await incidents.begin({ ...LAG, subject }))!;
    expect(begun).toEqual({
      ...{ incidentId: expect.stringMatching(/^inc_/), event: LAG.event, subject, summary: LAG.summary },
      ...{ beganMs: t.clock.now(), endedMs: null },
    });
    expect(await incidents.begin({ ...LAG, subject })).toBeNull();
    expect(await incidents.open()).toEqual([begun]);
    expect(await incidents.end(begun, t.clock.now())).toEqual({ ...begun, endedMs: t.clock.now() });
    expect(await incidents.end(begun, 0)).toBeNull();
  };
  await ended('first');
  await t.clock.advance(90 * 86_400_000);
  await ended('second');
  expect(await subjects()).toEqual(['first', 'second']);
  await t.clock.advance(1);
  await ended('third');
  expect(await subjects()).toEqual(['second', 'third']);
  expect((await incidents.since(t.clock.now())).map(({ subject }) => subject)).toEqual(['third']);
});

it('an incident that lasts longer than ninety days is kept from its end on, and so is one that is still open', async () => {
  const t = await openTestWebhooks();
  const incidents = new IncidentRepository(t.db, { clock: t.clock, randomBytes });
  const [long, open] = [
    await incidents.begin({ ...LAG, subject: 'long' }),
    await incidents.begin({ ...LAG, subject: 'open' }),
  ];
  await t.clock.advance(100 * 86_400_000);
  const over = await incidents.end(long!, t.clock.now());
  expect(await incidents.since(0)).toEqual([over, open]);
});

it('a webhook paused after failures is an incident until it is resumed', async () => {
  const t = await openTestWebhooks();
  const { webhookId } = await t.register({ label: 'bot' });
  await t.webhooks.registry.pause({ webhookId });
  expect(await pausedFindings(t.db)).toEqual([]);
  await t.db.updateTable('webhooks').set({ pause_reason: 'failures' }).execute();
  expect(await pausedFindings(t.db)).toEqual([
    {
      ...{ event: 'system.webhook_paused', subject: webhookId, level: 'bad' },
      summary: 'The webhook “bot” of a@example.com is paused after ten failed attempts.',
    },
  ]);
});

/**
 * Webhooks: latency from a detection to its receivers, throughput, and the effect of broken receivers on the others.
 */
import { Pool } from 'undici';
import { systemClock as clock, sleep } from '../src/runtime/clock.ts';
import { CONCURRENCY_MAX } from '../src/webhooks/delivery/sender.ts';
import type { Figure } from './figure.ts';
import { quantile } from './quantile.ts';
import { detectedNow, openRig, type WebhookRig } from './webhookRig.ts';

const ENDPOINTS = 20;
const DELIVERIES = 60_000;
/** Maximum number of deliveries in flight during the throughput measurement. */
const AHEAD = 4_000;
const ISOLATION_ENDPOINTS = 200;
/** Runs of each kind, alternating: other load on the machine then affects both. */
const ISOLATION_RUNS = 2;
const ISOLATION_SECONDS = 15;
/** 2.5 events for each of 200 endpoints: 500 deliveries a second. */
const ISOLATION_PERIOD_MS = 400;

export async function run(): Promise<Figure[]> {
  const ok = Array.from({ length: ENDPOINTS }, (_, n) => `/ok${n}`);
  const rig = await openRig(ok);
  const latency = await measureLatency(rig);
  const signed = await withCpu(() => measureThroughput(rig));
  const bare = await withCpu(() => measureBare(rig));
  await rig.close();
  return [
    ...latency,
    {
      name: `signed deliveries, outbox on, TLS, ${ENDPOINTS} endpoints`,
      value: signed.rate,
      unit: 'deliveries/s',
      goal: '>= 5,000',
    },
    { name: 'bare keep-alive POSTs of the same body, TLS', value: bare.rate, unit: 'requests/s' },
    { name: 'signed deliveries as a share of those', value: (signed.rate / bare.rate) * 100, unit: '%' },
    { name: 'processor time of a signed delivery, its receiver included', value: signed.cpuUs, unit: 'us' },
    { name: 'processor time of a bare POST, its receiver included', value: bare.cpuUs, unit: 'us' },
    ...(await measureIsolation()),
  ];
}

/** Other load on the machine lowers a rate, but hardly changes the processor time. */
async function withCpu(measure: () => Promise<number>) {
  const before = process.cpuUsage();
  const rate = await measure();
  const { user, system } = process.cpuUsage(before);
  return { rate, cpuUs: (user + system) / DELIVERIES };
}

async function measureLatency(rig: WebhookRig): Promise<Figure[]> {
  for (let n = 0; n < 50; n++) await tick(rig, 20);
  await rig.report();
  for (let n = 0; n < 400; n++) await tick(rig, 25);
  await sleep(clock, 500);
  const { latenciesMs } = await rig.report();
  return [
    {
      name: `detection -> first byte, ${ENDPOINTS} endpoints, 40 events/s, p50`,
      value: quantile(latenciesMs, 0.5),
      unit: 'ms',
    },
    { name: 'detection -> first byte, p99', value: quantile(latenciesMs, 0.99), unit: 'ms', goal: '<= 7' },
  ];
}

async function tick(rig: WebhookRig, ms: number): Promise<void> {
  rig.dispatcher.enqueue(detectedNow());
  await sleep(clock, ms);
}

async function measureThroughput(rig: WebhookRig): Promise<number> {
  await rig.report();
  const startMs = performance.timeOrigin + performance.now();
  let [taken, received, lastMs] = [0, 0, 0];
  while (received < DELIVERIES) {
    while (taken < DELIVERIES && taken - received < AHEAD) {
      rig.dispatcher.enqueue(detectedNow());
      taken += ENDPOINTS;
    }
    await sleep(clock, 20);
    const report = await rig.report();
    received += report.received;
    lastMs = report.lastMs || lastMs;
  }
  return (received / (lastMs - startMs)) * 1000;
}

async function measureBare({ port, ca, report }: WebhookRig): Promise<number> {
  const body = Buffer.from(JSON.stringify(detectedNow()));
  const connect = { ca };
  const pools = Array.from(
    { length: ENDPOINTS },
    () => new Pool(`https://127.0.0.1:${port}`, { connections: CONCURRENCY_MAX, connect, allowH2: false }),
  );
  let left = DELIVERIES;
  const post = async (pool: Pool) => {
    while (left-- > 0) {
      const reply = await pool.request({
        method: 'POST',
        path: '/ok',
        headers: { 'content-type': 'application/json' },
        body,
      });
      for await (const _ of reply.body) void _;
    }
  };
  const started = performance.now();
  await Promise.all(pools.flatMap((pool) => Array.from({ length: CONCURRENCY_MAX }, () => post(pool))));
  const seconds = (performance.now() - started) / 1000;
  await report();
  await Promise.all(pools.map((pool) => pool.destroy()));
  return DELIVERIES / seconds;
}

async function measureIsolation(): Promise<Figure[]> {
  const ok = Array.from({ length: ISOLATION_ENDPOINTS - 3 }, (_, n) => `/ok${n}`);
  const wellMs: number[] = [];
  const besideMs: number[] = [];
  let heap = { before: 0, after: 0 };
  for (let run = 0; run < ISOLATION_RUNS; run++) {
    wellMs.push(...(await isolated([...ok, '/ok-a', '/ok-b', '/ok-c'])).latenciesMs);
    const broken = await isolated([...ok, '/hang', '/reset', '/drip']);
    besideMs.push(...broken.latenciesMs);
    heap = broken.heapMb;
  }
  const name = '500 deliveries/s to 200 endpoints';
  return [
    { name: `${name}, all well: p99`, value: quantile(wellMs, 0.99), unit: 'ms' },
    {
      name: `${name}, 3 hang, reset, drip: p99 of the others`,
      value: quantile(besideMs, 0.99),
      unit: 'ms',
      goal: 'less than 10 % or 5 ms more',
    },
    { name: 'heap after the first third, 3 broken', value: heap.before, unit: 'MB' },
    { name: 'heap at the end, 3 broken', value: heap.after, unit: 'MB', goal: 'flat' },
  ];
}

async function isolated(paths: readonly string[]) {
  const rig = await openRig(paths);
  const registered = await rig.webhooks.registry.list();
  const broken = registered.filter(({ label }) => !label.startsWith('/ok'));
  const rounds = (ISOLATION_SECONDS * 1000) / ISOLATION_PERIOD_MS;
  let before = 0;
  for (let round = 0; round < rounds; round++) {
    // The first rounds open the connections.
    if (round === 5) await rig.report();
    if (round === Math.floor(rounds / 3)) before = heapMb();
    rig.dispatcher.enqueue(detectedNow());
    // Paused ones are resumed at once, so that they are broken all the time.
    for (const { webhookId } of broken) await rig.webhooks.registry.resume({ webhookId });
    await sleep(clock, ISOLATION_PERIOD_MS);
  }
  const { latenciesMs } = await rig.report();
  const after = heapMb();
  await rig.close();
  return { latenciesMs, heapMb: { before, after } };
}

function heapMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

import { expect, test } from 'vitest';
import { MemorySink } from '../../test/support/memorySink.ts';
import { MARKET } from '../../test/support/wire.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { UnderlyingRecord } from '../schema/records.ts';
import { Bus } from './bus.ts';
import { publishingSink } from './publishingSink.ts';

const UNDERLYING: UnderlyingRecord = {
  ...({ kind: 'underlying', source: 'chainlink', ticker: 'BTC', price: 1 } as const),
  ...{ eventTimeMs: 1, receivedTimeMs: 2, seq: 3 },
};

function newBus() {
  const metrics = new Metrics();
  return { bus: new Bus({ log: silentLogger, metrics }), metrics };
}

test('every listener of a topic gets each event once, in subscription order, until it unsubscribes', () => {
  const { bus } = newBus();
  const heard: string[] = [];
  const leave = bus.subscribe('market', ({ slug }) => void heard.push(`a ${slug}`));
  bus.subscribe('market', ({ slug }) => void heard.push(`b ${slug}`));
  bus.subscribe('gap', () => void heard.push('gap'));
  bus.publish('market', { ...MARKET, seq: 1, slug: '1' });
  leave();
  leave();
  bus.publish('market', { ...MARKET, seq: 2, slug: '2' });
  expect(heard).toEqual(['a 1', 'b 1', 'b 2']);
});

test('a listener that throws is counted and affects no other', async () => {
  const { bus, metrics } = newBus();
  const heard: string[] = [];
  bus.subscribe('market', () => {
    throw new Error('broken');
  });
  bus.subscribe('market', ({ slug }) => void heard.push(slug));
  for (let i = 0; i < 30; i++) bus.publish('market', { ...MARKET, seq: i, slug: String(i) });
  expect(heard).toHaveLength(30);
  expect(await metrics.registry.metrics()).toContain(
    'underround_bus_listener_failures_total{topic="market"} 30',
  );
});

test('the first twenty failures of each listener are logged', () => {
  const logged: [string, number][] = [];
  const log = {
    ...silentLogger,
    error: ({ topic, failures }: { topic: string; failures: number }) => void logged.push([topic, failures]),
  };
  const bus = new Bus({ log: log as never, metrics: new Metrics() });
  const fail = () => {
    throw new Error('broken');
  };
  bus.subscribe('market', fail);
  for (let i = 0; i < 22; i++) bus.publish('market', { ...MARKET, seq: i });
  expect(logged).toEqual(Array.from({ length: 20 }, (_, index) => ['market', index + 1]));
  bus.subscribe('market', fail);
  bus.publish('market', { ...MARKET, seq: 23 });
  expect(logged.slice(20)).toEqual([['market', 1]]);
});

test('subscribing or unsubscribing during a publication does not affect it', () => {
  const { bus } = newBus();
  const heard: string[] = [];
  const leave = bus.subscribe('market', () => {
    leave();
    bus.subscribe('market', () => void heard.push('late'));
  });
  bus.subscribe('market', () => void heard.push('second'));
  bus.publish('market', { ...MARKET, seq: 1 });
  expect(heard).toEqual(['second']);
  bus.publish('market', { ...MARKET, seq: 1 });
  expect(heard).toEqual(['second', 'second', 'late']);
});

test('a record is in the store before it is published', () => {
  const { bus } = newBus();
  const store = new MemorySink();
  const sink = publishingSink(store, bus);
  const seen: number[] = [];
  bus.subscribe('underlying', () => void seen.push(store.underlyings.length));
  bus.subscribe('market', () => void seen.push(store.markets.length));
  sink.underlying(UNDERLYING);
  sink.market({ ...MARKET, seq: 4 });
  expect(seen).toEqual([1, 1]);
});

import { describe, expect, it } from 'vitest';
import { VenueMessageError } from '../../runtime/errors.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { VenueDrift } from '../../runtime/venueDrift.ts';
import { knownKeys } from './knownKeys.ts';
import { MessageWatch } from './messageWatch.ts';

const T0 = 1_795_176_010_000;
const KINDS = { book: knownKeys('bids'), trade: knownKeys('price') };

function setUp() {
  const drift = new VenueDrift();
  return { drift, watch: new MessageWatch({ feed: 'venue', kinds: KINDS, drift }) };
}

describe('message', () => {
  it('checks one message of each kind in 100 ms', () => {
    const { drift, watch } = setUp();
    for (let ms = 0; ms < 1000; ms++) {
      watch.message('book', { depth: ms }, 'text', T0 + ms);
      watch.message('trade', { price: 1 }, 'text', T0 + ms);
    }
    expect(drift.findings()).toEqual([
      {
        ...{ category: 'unknown_field', feed: 'venue', kind: 'book', key: 'depth', count: 10, sample: '0' },
        ...{ firstSeenMs: T0, lastSeenMs: T0 + 900 },
      },
    ]);
  });

  it('checks again after the clock was set back', () => {
    const { drift, watch } = setUp();
    watch.message('book', {}, 'text', T0);
    watch.message('book', { depth: 1 }, 'text', T0 - 3_600_000);
    expect(drift.findings()).toMatchObject([{ key: 'depth' }]);
  });

  it('sets an unknown kind aside as received, every time', () => {
    const { drift, watch } = setUp();
    watch.message('auction', { a: 1 }, '{ "a": 1 }', T0);
    watch.message('auction', { a: 2 }, null, T0 + 1);
    watch.message(undefined, { error: 'x' }, null, T0 + 2);
    watch.message(7, { e: 7 }, null, T0 + 3);
    expect(drift.findings().map(({ category, kind, key, count }) => [category, kind, key, count])).toEqual([
      ['unknown_message', 'message', 'auction', 2],
      ['unknown_message', 'message', 'none', 2],
    ]);
    expect(drift.takeSetAside().map(({ kind, text }) => [kind, text])).toEqual([
      ['auction', '{ "a": 1 }'],
      ['auction', '{"a":2}'],
      ['none', '{"error":"x"}'],
      ['none', '{"e":7}'],
    ]);
  });
});

describe('read', () => {
  it('sets the body of an answer aside that cannot be mapped, and passes the error on', () => {
    const { drift, watch } = setUp();
    const refusal = new VenueMessageError('book: bids missing');
    const read = () =>
      watch.read('book', { depth: 1 }, T0, () => {
        throw refusal;
      });
    expect(read).toThrow(refusal);
    expect(drift.takeSetAside()).toEqual([
      {
        ...{ feed: 'venue', kind: 'book', reason: 'book: bids missing', receivedTimeMs: T0 },
        ...{ text: '{"depth":1}', wasCut: false, order: 0 },
      },
    ]);
    expect(drift.findings().map(({ category, key }) => [category, key])).toEqual([
      ['unknown_field', 'depth'],
      ['refused_message', 'book: bids missing'],
    ]);
  });

  it('sets nothing aside for an error of another kind', () => {
    const { drift, watch } = setUp();
    const fail = () => {
      throw new TypeError('a defect');
    };
    expect(() => watch.read('book', {}, T0, fail)).toThrow(TypeError);
    expect(drift.takeSetAside()).toEqual([]);
  });
});

it.each([
  ['{"market":"0x1","event_type":"book","bids":', 'book'],
  ['{"topic":"crypto_prices_chainlink","type":"update"', 'crypto_prices_chainlink'],
  ['{"type":"ticker"', 'ticker'],
  ['{"e":"trade"', 'trade'],
  ['{"channel":"price.crypto"', 'price.crypto'],
  ['{ "op" : "error"', 'error'],
  [`{"type":"${'x'.repeat(60)}"`, 'x'.repeat(60)],
  [`{"type":"${'x'.repeat(61)}"`, 'none'],
  ['<html>', 'none'],
])('names the kind of the refused text %s', (text, kind) => {
  const { drift, watch } = setUp();
  watch.refused(text, { reason: 'unreadable', receivedTimeMs: T0 });
  expect(drift.takeSetAside()).toMatchObject([{ kind, text }]);
});

it('counts from 0, so that an alert sees the first difference of a feed', async () => {
  const metrics = new Metrics();
  const watch = new MessageWatch({ feed: 'a.feed', kinds: {}, drift: metrics.venueDrift });
  const counted = async () => {
    const metric = await metrics.registry.getSingleMetric('underround_venue_drift_total')?.get();
    return metric?.values.map(({ labels, value }) => [labels.feed, labels.kind, value]);
  };
  expect(await counted()).toContainEqual(['a.feed', 'unknown_message', 0]);
  watch.message('new', {}, null, 0);
  expect(await counted()).toContainEqual(['a.feed', 'unknown_message', 1]);
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tradeBody } from '../../src/backtest/tradeBody.ts';
import { NoAnswerError, resolutionOf, type TapeListing, Underround } from '../../src/client/index.ts';
import {
  compileStrategy,
  type MarketTape,
  prepareMarket,
  type ReplayParams,
  replayMarket,
  type Strategy,
  type Trade,
} from '../../src/core/index.ts';
import { withRoundedMoney } from '../../src/schema/moneyJson.ts';
import type { RecordSink } from '../../src/schema/records.ts';
import { loadTape } from '../../src/store/queries/tapeReader.ts';
import { loadTapeGaps, loadUniverse } from '../../src/store/queries/universe.ts';
import { bookRecord } from '../support/api.ts';
import { marketIdOf, WINDOW_MS, writeSeries } from '../support/backtestData.ts';
import { type BacktestRig, openBacktestRig } from '../support/backtestRig.ts';

const START = Date.UTC(2026, 10, 20, 12);
const MARKETS = 6;
const SERIES = { ticker: 'BTC', event_type: '5m' } as const;
const SIZE_USD = 10;
/** As the service reads for positions of this size: docs/CLIENTS.md. */
const DEPTH = 15;
const MICRO_PER_USD = 1_000_000;
const PARAMS: ReplayParams = {
  fill_mode: 'walk_book',
  latency_ms: 50,
  max_fill_price: 0.985,
  max_slippage: 0.02,
};
const STRATEGIES: Record<string, Strategy> = {
  threshold: { type: 'threshold_entry', threshold: 0.45, direction: 'below', side: 'buy_yes' },
  reversion: { type: 'mean_reversion', lookback: 30, z_threshold: 1.5 },
  late: { type: 'time_before_resolution', minutes_before: 2, side: 'buy_no' },
  maker: {
    ...{ type: 'threshold_entry', threshold: 0.45, direction: 'below', side: 'buy_yes' },
    execution: { entry: 'maker', offset: 0, timeout_s: 30, queue_model: 'pessimistic' },
  },
};

let rig: BacktestRig;
let client: Underround;
let headers: { authorization: string };

/** A series of markets, with trades, prices of the feed, a book whose NO is its own, a fine size and a gap. */
function write(writer: RecordSink): void {
  let seq = writeSeries(writer, { markets: MARKETS, quotes: 200, startMs: START });
  for (let at = 0; at < MARKETS * WINDOW_MS; at += 1000) {
    const times = { eventTimeMs: START + at, receivedTimeMs: START + at + 300 };
    writer.underlying({
      ...{ kind: 'underlying', ticker: 'BTC', source: 'chainlink', seq: ++seq, ...times },
      price: 97_000 + 40 * Math.sin(at / 40_000),
    });
  }
  for (let at = 0; at < 40; at++) {
    const times = { eventTimeMs: START + at * 7000, receivedTimeMs: START + at * 7000 + 60 };
    const trade = { price: 4800, size: 30e6, side: 'SELL_YES', tradeId: `t${at}` } as const;
    writer.trade({ seq: ++seq, marketId: marketIdOf(0), ...times, ...trade });
  }
  const own = { bids: [[4900, 5e6]], asks: [[5200, 1_234_567]] } as const;
  writer.book(
    bookRecord({
      ...{ seq: ++seq, marketId: marketIdOf(1), timeMs: START + WINDOW_MS + 1000, no: own },
      ...{ yesBids: [[4700, 7e6]], yesAsks: [[5000, 1_234_567]] },
    }),
  );
}

beforeAll(async () => {
  rig = await openBacktestRig(write);
  headers = await rig.key('premium');
  const url = 'http://service.test';
  client = new Underround({
    ...{ url, key: headers.authorization.slice('Bearer '.length) },
    fetch: async (input, init) => {
      const answer = await rig.app.inject({
        url: String(input).slice(url.length),
        headers: { ...(init?.headers as Record<string, string>) },
      });
      return new Response(new Uint8Array(answer.rawPayload), { status: answer.statusCode });
    },
  });
});
afterAll(() => rig?.dispose());

/** As plain arrays, because the service's columns are shared memory. */
const plain = (value: unknown) =>
  JSON.parse(
    JSON.stringify(value, (_, inner) => (ArrayBuffer.isView(inner) ? [...(inner as Float64Array)] : inner)),
  );

async function listings(): Promise<TapeListing[]> {
  return await client.tapeMarkets({ ...SERIES, limit: 100 });
}

describe('tapes of the client', () => {
  it('equal those that the service itself reads', async () => {
    const store = rig.store.store;
    const range = { startMs: null, endMs: Number.MAX_SAFE_INTEGER, limit: 100 };
    const markets = await loadUniverse(store, { universe: SERIES, ...range });
    const found = await listings();
    expect(found.map(({ market }) => market.marketId)).toEqual(markets.map(({ marketId }) => marketId));
    const gaps = await loadTapeGaps(store, [markets[1]!.marketId]);
    for (const [index, market] of markets.entries()) {
      const terms = { depth: DEPTH, prices: true, trades: true };
      const own = { market, gaps: gaps.get(market.marketId) ?? [], terms };
      const expected = await loadTape(store, own, new AbortController().signal);
      const tape: MarketTape = await client.tape(found[index]!, { depth: DEPTH, trades: true });
      const { market: facts, ...rows } = plain(tape);
      const { market: expectedFacts, ...expectedRows } = plain(expected);
      expect(rows).toEqual(expectedRows);
      expect(facts).toMatchObject(expectedFacts);
    }
    const second = await client.tape(found[1]!);
    expect(second.books?.noBids).not.toBeNull();
    expect(second.quotes.seq.length).toBe(200);
  });

  it.each(Object.entries(STRATEGIES))(
    'give the engine the trades of the service’s backtest: %s',
    async (_name, strategy) => {
      const body = { strategy, universe: SERIES, size_usd: SIZE_USD, params: PARAMS };
      const { job } = await rig.submit('/v1/backtest', body, headers);
      expect(job.error).toBeNull();
      const trades: object[] = [];
      for (const listing of await listings()) {
        const tape: MarketTape = await client.tape(listing, { depth: DEPTH, trades: true });
        trades.push(...backtest(tape, listing, strategy).map((trade) => tradeBody(listing.market, trade)));
      }
      expect(trades.length).toBeGreaterThan(0);
      expect(withRoundedMoney(trades)).toEqual(job.result.trades);
    },
  );

  it('that were cut or changed on the way are refused', async () => {
    const [listing] = await listings();
    const changed = (edit: (bytes: Uint8Array) => Uint8Array) =>
      new Underround({
        ...{ url: 'http://service.test', key: 'x', triesMax: 1 },
        fetch: async (input) => {
          const url = String(input).slice('http://service.test'.length);
          const { rawPayload } = await rig.app.inject({ url, headers });
          return new Response(new Uint8Array(edit(rawPayload)));
        },
      });
    const cut = changed((bytes) => bytes.subarray(0, bytes.length - 36)).tape(listing!);
    await expect(cut).rejects.toThrow(new NoAnswerError('the tape ended early'));
    const flipped = changed((bytes) => bytes.with(100, (bytes[100]! + 1) % 256)).tape(listing!);
    await expect(flipped).rejects.toThrow(new NoAnswerError('the tape is damaged: a hash does not match'));
  });
});

/** The backtest of one market, as a user of the engine writes it. */
function backtest(tape: MarketTape, { market }: TapeListing, strategy: Strategy): readonly Trade[] {
  const compiled = compileStrategy(strategy);
  const terms = {
    ...{ strategy: compiled, size: SIZE_USD * MICRO_PER_USD, params: PARAMS },
    execution: strategy.execution,
  };
  const prepared = prepareMarket(tape, compiled.needs);
  return replayMarket(prepared, terms, { resolution: resolutionOf(market) }).trades;
}

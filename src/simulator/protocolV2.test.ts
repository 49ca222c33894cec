import { describe, expect, test } from 'vitest';
import { windowAt } from '../venues/polymarket/lifecycle/windows.ts';
import { clobReply } from './clobRoutes.ts';
import { FaultState } from './faultState.ts';
import { gammaReply } from './gammaRoutes.ts';
import { VenueModel } from './model.ts';

const START = Date.UTC(2026, 10, 20, 12, 1);
const SWITCH = Date.UTC(2026, 10, 20, 12, 5);

/** The venue just before the switch: the current window is V1, the next one V2. */
function venue(v2FromMs?: number) {
  const model = new VenueModel({
    ...{ seed: 'v2', startTimeMs: START, density: 0.05, v2FromMs },
    tickers: ['BTC'],
    eventTypes: ['5m'],
  });
  const frames: string[] = [];
  const ignored = () => undefined;
  const other = { relay: ignored, spot: ignored, entered: ignored, final: ignored, stated: ignored };
  const run = (untilMs: number) =>
    model.advance(untilMs, { ...other, clob: (_atMs, _market, frame) => void frames.push(frame) });
  run(START + 10_000);
  const faults = new FaultState();
  const gamma = (path: string) => {
    const url = new URL(path, 'http://venue');
    const request = { path: url.pathname, query: url.searchParams, nowMs: START };
    return JSON.parse(String(gammaReply(model, faults, request)?.body));
  };
  const clob = (path: string, body = '') => {
    const url = new URL(path, 'http://venue');
    const asked = { path: url.pathname, query: url.searchParams, nowMs: START };
    const reply = clobReply(model, faults, { ...asked, method: body === '' ? 'GET' : 'POST', body });
    return { status: reply?.status, body: JSON.parse(String(reply?.body)) };
  };
  const market = (startMs: number) => model.registry.ofWindow('BTC', '5m', windowAt('5m', startMs));
  return { model, frames, run, gamma, clob, v1: market(START), v2: market(SWITCH) };
}

describe('the simulated protocol V2', () => {
  test('begins with the first window that starts after the switch', () => {
    const { v1, v2, gamma } = venue(SWITCH);
    const listed = (slug: string) => gamma(`/events?slug=${slug}`)[0];
    const old = listed(v1.facts.slug);
    expect([old.version, old.markets[0].version, old.markets[0].positionIds]).toEqual([
      'v1',
      'v1',
      undefined,
    ]);
    expect(old.markets[0].conditionId).toMatch(/^0x[0-9a-f]{64}$/);
    const { conditionId, upToken, downToken } = v2.facts;
    expect(listed(v2.facts.slug)).toMatchObject({
      version: 'v2',
      markets: [
        {
          ...{ version: 'v2', clobTokenIds: null, positionIds: [upToken, downToken] },
          ...{ conditionId: conditionId.slice(0, 64), resolutionStatus: 'active' },
        },
      ],
    });
  });

  test('has the venue’s ids: 75 digits, from which condition and outcome follow', () => {
    const { conditionId, listedId, upToken, downToken } = venue(SWITCH).v2.facts;
    expect(conditionId).toMatch(/^0x01[0-9a-f]{32}0{30}$/);
    expect(listedId).toMatch(/^0x[0-9a-f]{62}$/);
    expect([upToken.length, downToken.length]).toEqual([75, 75]);
    for (const [token, outcome] of [
      [upToken, 0n],
      [downToken, 1n],
    ] as const) {
      const id = BigInt(token);
      expect(`0x${(id >> 8n).toString(16).padStart(62, '0')}`).toBe(listedId);
      expect(id & 255n).toBe(outcome);
      // Bits 40 to 103 are zero in every V2 id.
      expect(id & (((1n << 64n) - 1n) << 40n)).toBe(0n);
    }
  });

  test('knows each id in the form that the real interface wants', () => {
    const { v2, gamma, clob } = venue(SWITCH);
    const { conditionId, listedId, upToken, downToken } = v2.facts;
    const found = (id: string) => gamma(`/markets?condition_ids=${id}`).length;
    expect([found(listedId), found(conditionId)]).toEqual([1, 0]);
    expect(clob(`/clob-markets/${listedId}`)).toEqual({ status: 404, body: { error: 'market not found' } });
    expect(clob(`/clob-markets/${conditionId}`)).toMatchObject({
      status: 200,
      body: {
        ...{ c: conditionId, v: 'v2', cbos: true },
        t: [
          { t: upToken, o: 'Up' },
          { t: downToken, o: 'Down' },
        ],
      },
    });
    expect(clob(`/clob-markets/${venue(SWITCH).v1.facts.conditionId}`).body.v).toBe('v1');
  });

  test('states the version last in every book and frame, and V1 states none', () => {
    const { model, v1, v2, clob, frames, run } = venue(SWITCH);
    const books = clob('/books', JSON.stringify([v2, v1].map(({ facts }) => ({ token_id: facts.upToken }))));
    const [newBook, oldBook] = books.body;
    expect(Object.keys(newBook).slice(-2)).toEqual(['last_trade_price', 'version']);
    expect([newBook.market, newBook.version]).toEqual([v2.facts.conditionId, 'v2']);
    expect('version' in oldBook).toBe(false);
    const first = model.bookOf(v2)?.book.bookFrame(true, true) ?? '';
    expect(first.endsWith(',"version":"v2"}')).toBe(true);
    run(SWITCH + 120_000);
    const kinds = new Map<string, Set<string>>();
    for (const frame of frames) {
      const { event_type: kind, market, version = 'none' } = JSON.parse(frame);
      const of = market === v2.facts.conditionId ? 'v2' : market === v1.facts.conditionId ? 'v1' : null;
      if (of !== null) kinds.set(`${of} ${kind}`, (kinds.get(`${of} ${kind}`) ?? new Set()).add(version));
    }
    expect(kinds.size).toBeGreaterThan(6);
    for (const [name, versions] of kinds) {
      expect([name, ...versions]).toEqual([name, name.startsWith('v2') ? 'v2' : 'none']);
    }
  });

  test('leaves the habits of a market as they are', () => {
    const [plain, switched] = [venue(), venue(SWITCH)];
    expect(switched.v2.facts.habits).toEqual(plain.v2.facts.habits);
    expect(switched.v2.facts.createdMs).toBe(plain.v2.facts.createdMs);
    expect(plain.v2.facts.version).toBe('v1');
  });
});

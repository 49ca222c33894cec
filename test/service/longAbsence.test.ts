import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SimulatedMarket } from '../../src/simulator/markets.ts';
import { MemoryWebSocket } from '../support/memorySockets.ts';
import { WatchedVenue } from '../support/watchedVenue.ts';

vi.mock('ws', async () => ({ WebSocket: (await import('../support/memorySockets.ts')).MemoryWebSocket }));

const STEP_MS = 20;
const AWAY_MS = 170_000;
const BACK_WITHIN_MS = 1_000;
/** Offsets within the retry period. */
const PHASES_MS = [0, 1_300, 2_900, 4_100];

let venue: WatchedVenue;
/** Tokens of the books requested on open connections. */
let asked: string[];
beforeEach(() => {
  asked = [];
  const send = MemoryWebSocket.prototype.send;
  vi.spyOn(MemoryWebSocket.prototype, 'send').mockImplementation(function (this: MemoryWebSocket, text) {
    if (text.includes('"operation":"subscribe"')) asked.push(text);
    send.call(this, text);
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await venue.stop();
});

const live = () => venue.entered.filter(({ facts }) => facts.window.endTimeMs > venue.clock.now());

async function rightAgain(): Promise<void> {
  const wrong = new Set(live());
  for (let leftMs = BACK_WITHIN_MS; leftMs >= 0 && wrong.size > 0; leftMs -= STEP_MS) {
    await venue.clock.advance(STEP_MS);
    for (const market of wrong) if (venue.isRight(market)) wrong.delete(market);
  }
  expect([...wrong].map(({ facts }) => facts.slug)).toEqual([]);
}

const freeze = (markets: readonly SimulatedMarket[], on: boolean) => {
  for (const { facts } of markets)
    for (const token of [facts.upToken, facts.downToken]) {
      if (on) venue.faults.frozenTokens.add(token);
      else venue.faults.frozenTokens.delete(token);
    }
};
const of1h = () => live().filter(({ facts }) => facts.eventType === '1h');

interface Absence {
  readonly name: string;
  readonly begin: () => void;
  readonly end: () => void;
}

const ABSENCES: readonly Absence[] = [
  { name: 'a quiet series', begin: () => freeze(of1h(), true), end: () => freeze(of1h(), false) },
  {
    name: 'one market of a quiet series',
    begin: () => freeze(of1h().slice(0, 1), true),
    end: () => freeze(of1h().slice(0, 1), false),
  },
  {
    name: 'everything, connections open',
    begin: () => {
      venue.faults.silentStall = true;
    },
    end: () => {
      venue.faults.silentStall = false;
    },
  },
];

describe.each(ABSENCES)('$name lost for minutes', ({ begin, end }) => {
  it.each(PHASES_MS)('is right within a second of its return (offset %i ms)', async (phaseMs) => {
    venue = new WatchedVenue({ density: 0.02 });
    await venue.settle();
    begin();
    await venue.clock.advance(AWAY_MS + phaseMs);
    end();
    await rightAgain();
  });
});

it('sends a lost venue no more requests for many markets than for ten', async () => {
  const eventTypes = ['5m', '15m', '1h', '4h', 'daily_up_down'] as const;
  venue = new WatchedVenue({ density: 0.02, tickers: ['BTC', 'ETH', 'SOL'], eventTypes });
  await venue.settle();
  venue.faults.silentStall = true;
  await venue.clock.advance(AWAY_MS);
  expect(live().length).toBeGreaterThan(25);
  const seconds = 30;
  asked = [];
  const connectionsBefore = venue.network.links.length;
  await venue.clock.advance(seconds * 1000);
  // A market is requested on two connections at most.
  expect(asked.length).toBeLessThanOrEqual(2 * 10 * seconds);
  expect(asked.length).toBeGreaterThan(5 * seconds);
  // One series per three seconds.
  expect(venue.network.links.length - connectionsBefore).toBeLessThanOrEqual(2 * (seconds / 3 + 1));
  expect(venue.network.links.length).toBeGreaterThan(connectionsBefore);
});

import { describe, expect, it } from 'vitest';
import { type BlindInterval, commonBlindness } from './commonBlindness.ts';

const at = (timeMs: number) => ({ eventTimeMs: timeMs, receivedTimeMs: timeMs + 5 });
const blind = (gapId: string, from: number, to: number | null): BlindInterval => ({
  gapId,
  start: at(from),
  end: to === null ? null : at(to),
  cause: 'disconnected',
  feed: 'polymarket.clob',
  knownTimeMs: from + 100,
  repairedBy: to === null ? null : 'snapshot',
  kind: 'reported',
});
const sender = (firstProven: number | null, ...intervals: BlindInterval[]) => ({
  firstProven: firstProven === null ? null : at(firstProven),
  blind: intervals,
});

describe('the periods that no sender saw', () => {
  it.each([
    [
      'are those of a single sender',
      [sender(0, blind('a', 10, 20), blind('b', 30, null))],
      ['a 10 20', 'b 30 -'],
    ],
    ['are none while one sees', [sender(0, blind('a', 10, null)), sender(0)], []],
    [
      'are where all intervals meet',
      [sender(0, blind('a', 10, 30)), sender(0, blind('b', 20, null))],
      ['b 20 30'],
    ],
    ['exclude touching ends', [sender(0, blind('a', 10, 20)), sender(0, blind('b', 20, 30))], []],
    [
      'are several within one long interval',
      [sender(0, blind('a', 10, 90)), sender(0, blind('b', 20, 30), blind('c', 40, 50))],
      ['b 20 30', 'c 40 50'],
    ],
    ['ignore a sender that never saw the market', [sender(0, blind('a', 10, 20)), sender(null)], ['a 10 20']],
    ['end where another sender first saw it', [sender(0, blind('a', 10, null)), sender(40)], ['a 10 40']],
    ['are none before any sender saw it', [sender(50), sender(40)], []],
  ])('%s', (_, senders, expected) => {
    const shown = commonBlindness(senders).map(
      ({ startedBy, start, end }) => `${startedBy.gapId} ${start.eventTimeMs} ${end?.eventTimeMs ?? '-'}`,
    );
    expect(shown).toEqual(expected);
  });
});

import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { TICKERS } from '../schema/market.ts';
import type { Board } from '../signals/liveBoard.ts';
import { BoardStream, SEND_INTERVAL_MS } from './boardStream.ts';

/** A connection that keeps its messages. */
class Reader {
  readonly messages: { type: string; opportunities: { market_id: string }[] }[] = [];
  isPressed = false;
  onDrained: (() => void) | null = null;
  onClosed: (() => void) | null = null;

  send(message: Buffer): void {
    this.answer(String(message));
  }

  answer(text: string): void {
    this.messages.push(JSON.parse(text));
  }

  get shown(): string[][] {
    return this.messages.map(({ opportunities }) => opportunities.map(({ market_id }) => market_id));
  }
}

function opened() {
  const clock = new FakeClock();
  const open: string[] = [];
  const reads: object[] = [];
  const board = {
    read: (query: object) => {
      reads.push(query);
      return { asOfMs: clock.now(), opportunities: open.map((market_id) => ({ market_id })) };
    },
  } as unknown as Board;
  const stream = new BoardStream(() => board, clock);
  const join = () => {
    const reader = new Reader();
    stream.add(reader);
    return reader;
  };
  return { clock, open, reads, join };
}

describe('the board for its readers', () => {
  it('is sent whole at first, and then only after a change', async () => {
    const { clock, open, join } = opened();
    const reader = join();
    open.push('a');
    await clock.advance(SEND_INTERVAL_MS);
    await clock.advance(10 * SEND_INTERVAL_MS);
    open.push('b');
    await clock.advance(SEND_INTERVAL_MS);
    open.length = 0;
    await clock.advance(SEND_INTERVAL_MS);
    expect(reader.shown).toEqual([[], ['a'], ['a', 'b'], []]);
    expect(reader.messages[1]).toMatchObject({ type: 'board', as_of: expect.any(String) });
  });

  it('is read once for all readers, completely, and not at all after all have left', async () => {
    const { clock, open, reads, join } = opened();
    const readers = [join(), join(), join()];
    reads.length = 0;
    open.push('a');
    await clock.advance(SEND_INTERVAL_MS);
    expect(reads).toEqual([expect.objectContaining({ minEdge: 0, tickers: TICKERS, sigmaSeconds: 600 })]);
    expect(readers.map(({ shown }) => shown.at(-1))).toEqual([['a'], ['a'], ['a']]);
    for (const reader of readers) reader.onClosed?.();
    await clock.advance(10 * SEND_INTERVAL_MS);
    expect(reads).toHaveLength(1);
    expect(join().shown).toEqual([['a']]);
  });

  it('sends everyone the changes found when a reader joins', async () => {
    const { clock, open, join } = opened();
    const first = join();
    open.push('a');
    expect(join().shown).toEqual([['a']]);
    await clock.advance(SEND_INTERVAL_MS);
    expect(first.shown).toEqual([[], ['a']]);
  });

  it('sends a slow reader only the newest state', async () => {
    const { clock, open, join } = opened();
    const [slow, quick] = [join(), join()];
    slow.isPressed = true;
    for (const name of ['a', 'b', 'c']) {
      open.push(name);
      await clock.advance(SEND_INTERVAL_MS);
    }
    expect(quick.messages).toHaveLength(4);
    slow.isPressed = false;
    slow.onDrained?.();
    slow.onDrained?.();
    expect(slow.shown).toEqual([[], ['a', 'b', 'c']]);
    open.pop();
    await clock.advance(SEND_INTERVAL_MS);
    expect(slow.shown.at(-1)).toEqual(['a', 'b']);
  });
});

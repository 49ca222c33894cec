import type { StreamMessage } from '../../src/bus/recordStream.ts';

export function tradeOf(marketId: string, tradeId: string): StreamMessage {
  return {
    kind: 'trade',
    id: `trade/${marketId}/${tradeId}`,
    key: marketId,
    sender: 'a',
    run: '1',
    body: {
      marketId,
      eventTimeMs: 1_000,
      receivedTimeMs: 1_005,
      side: 'BUY_YES',
      price: 4_200,
      size: 12_340_000,
      tradeId,
    },
  };
}

/** The id of a trade; of another message its kind. */
export function tradeIdOf({ message }: { readonly message: StreamMessage }): string {
  return message.kind === 'trade' ? message.body.tradeId : message.kind;
}

/** `t1`, `t2`, and so on. */
export function numbered(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `t${from + index}`);
}

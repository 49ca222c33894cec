import { hash } from 'node:crypto';
import type { MarketTape, Resolution } from '../core/session/tape.ts';

/** SHA-256 in hex over all data that a replay of the market can read. */
export function tapeHash(
  { market, quotes, books, prices, trades, gaps }: MarketTape,
  resolution: Resolution | null,
): string {
  const columns = [quotes, books ?? {}, prices ?? {}, trades ?? {}];
  return columnsHash(JSON.stringify({ market, gaps, resolution }), columns);
}

/** SHA-256 in hex over a text and the arrays of objects; of two levels at most. */
export function columnsHash(head: string, objects: readonly object[]): string {
  const parts = [head];
  for (const [name, column] of objects.flatMap((part) => Object.entries(part))) {
    if (ArrayBuffer.isView(column)) parts.push(`${name} ${bytesHash(column)}`);
    else if (column !== null) {
      for (const [inner, view] of Object.entries(column as object)) {
        parts.push(`${name}.${inner} ${bytesHash(view as ArrayBufferView)}`);
      }
    }
  }
  return hash('sha256', parts.join('\n'), 'hex');
}

function bytesHash({ buffer, byteOffset, byteLength }: ArrayBufferView): string {
  return hash('sha256', Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength), 'hex');
}

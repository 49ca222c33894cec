/** Writes a query result to the HTTP answer: in one piece or as a stream. */
import type { ServerResponse } from 'node:http';
import type { ChdbQueryStream, ChdbResult, StreamChunk } from 'chdb';
import type { FairQueue } from '../../../core/fairQueue.ts';
import { type Clock, sleep } from '../../../runtime/clock.ts';
import type { AnswerBuffer } from './answerBuffer.ts';
import type { ShortReads } from './shortReads.ts';

/**
 * Formats whose blocks can be concatenated. In all others the engine prints a header and a footer around every block of
 * a streamed answer, so those are answered in one piece.
 */
const STREAMED_FORMATS: ReadonlySet<string> = new Set([
  'JSONEachRow',
  'JSONCompactEachRow',
  'JSONStringsEachRow',
  'RowBinary',
  'Native',
  'TabSeparated',
  'TSV',
  'CSV',
]);

export function canStream(format: string): boolean {
  return STREAMED_FORMATS.has(format);
}

interface AnswerHead {
  readonly queryId: string;
  readonly format: string;
}

function headers(head: AnswerHead): Record<string, string> {
  return {
    'Content-Type': head.format.startsWith('JSON')
      ? 'application/json; charset=UTF-8'
      : 'application/octet-stream',
    'X-ClickHouse-Query-Id': head.queryId,
    'X-ClickHouse-Format': head.format,
    'X-ClickHouse-Timezone': 'UTC',
  };
}

export function answerWhole(response: ServerResponse, head: AnswerHead, result: ChdbResult): void {
  const bytes = result.bytes();
  const summary = {
    read_rows: String(result.rowsRead),
    read_bytes: String(result.bytesRead),
    elapsed_ns: String(Math.round(result.elapsed * 1e9)),
  };
  response.writeHead(200, {
    ...headers(head),
    'Content-Length': String(bytes.length),
    'X-ClickHouse-Summary': JSON.stringify(summary),
  });
  response.end(bytes);
}

const ARRAY_OPEN = '['.charCodeAt(0);
/** Around each block of a JSON array the engine prints `[\n` and `\n]\n`. */
const BLOCK_PREFIX_BYTES = 2;
const BLOCK_SUFFIX_BYTES = 3;

/** A block that takes longer than this no longer delays the blocks of other answers. */
export const TURN_MS_MAX = 100;

/** What the making of an answer's blocks depends on. */
interface AnswerOptions {
  readonly start: () => ChdbQueryStream;
  readonly buffer: AnswerBuffer;
  readonly turns: FairQueue;
  readonly shortReads: ShortReads;
  readonly clock: Clock;
}

/**
 * Streams an answer block by block as the engine makes it, taking turns with other answers. The reader may be slower.
 * The status is sent with the first block, so an earlier error has its own status. A later error throws, and the caller
 * must cut the connection.
 * @returns A function that sends the blocks the reader has not received yet; it does not need the engine.
 */
export async function answerStream(
  response: ServerResponse,
  head: AnswerHead,
  options: AnswerOptions,
): Promise<() => Promise<void>> {
  const { buffer } = options;
  let isArray = false;
  let wroteRows = false;
  for await (const chunk of inTurn(response, head.queryId, options)) {
    const raw = chunk.raw();
    const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
    if (bytes.length === 0) continue;
    if (!response.headersSent) {
      response.writeHead(200, headers(head));
      // A row of JSONEachRow starts with a brace; a bracket means that the setting for one array is on.
      isArray = head.format === 'JSONEachRow' && bytes[0] === ARRAY_OPEN;
      if (isArray) await buffer.write(Buffer.from('[\n'));
    }
    const rows = isArray ? bytes.subarray(BLOCK_PREFIX_BYTES, bytes.length - BLOCK_SUFFIX_BYTES) : bytes;
    if (rows.length === 0) continue;
    if (isArray && wroteRows) await buffer.write(Buffer.from(',\n'));
    wroteRows = true;
    await buffer.write(rows);
    if (response.destroyed) break;
  }
  return async () => {
    await buffer.finish();
    if (!response.headersSent) response.writeHead(200, headers(head));
    response.end(isArray ? '\n]\n' : undefined);
  };
}

/**
 * The blocks of an answer. Each is produced in a turn of the answer, and the turn ends before the reader has the block.
 * The first turn also starts the query: that blocks the host's thread for milliseconds, and other requests are read
 * between two turns.
 */
async function* inTurn(
  response: ServerResponse,
  queryId: string,
  { start, buffer, turns, shortReads, clock }: AnswerOptions,
): AsyncGenerator<StreamChunk> {
  let blocks: AsyncIterator<StreamChunk> | null = null;
  const endLongAnswer = shortReads.beginLongAnswer();
  try {
    for (;;) {
      await shortReads.beforeBlock(buffer);
      const begun = await turns.run(queryId, async () => {
        await shortReads.inTurn(buffer);
        // No query is started for a reader that left while it waited.
        if (blocks === null && response.destroyed) return null;
        blocks ??= start()[Symbol.asyncIterator]();
        const block = blocks.next();
        await orLimit(block, clock);
        return { block };
      });
      if (begun === null) return;
      const next = await begun.block;
      if (next.done) return;
      yield next.value;
    }
  } finally {
    endLongAnswer();
    // Ends the query where its reader has left.
    await (blocks as AsyncIterator<StreamChunk> | null)?.return?.(undefined);
  }
}

/**
 * Ends with the block, or after `TURN_MS_MAX` without it.
 * @throws What the block throws meanwhile.
 */
async function orLimit(block: Promise<unknown>, clock: Clock): Promise<void> {
  const limit = new AbortController();
  try {
    await Promise.race([block, sleep(clock, TURN_MS_MAX, limit.signal)]);
  } finally {
    limit.abort();
  }
}

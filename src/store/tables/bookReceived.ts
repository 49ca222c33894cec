/** Reconstructs the data received up to a past time, which may differ from the venue's state at that time. */
import type { UnderlyingEvent } from '../../schema/events.ts';
import type { Ticker } from '../../schema/market.ts';
import type { BookView } from '../../schema/records.ts';
import {
  BOOK_FIELDS,
  GAP_END_RECEIVED,
  GAP_START_RECEIVED,
  type StoredBookRow,
  storedBook,
  viewsOf,
} from '../queries/resume.ts';
import { SEEN_LIVE } from '../queries/sql.ts';
import type { StoreReader } from '../reader.ts';

/** A past book, and whether it was trusted at the requested time. */
interface ReceivedBook {
  readonly trusted: boolean;
  readonly yes: BookView;
  readonly no: BookView;
}

/**
 * The last book received by `timeMs`; null before the first. It is untrusted if trust was lost after its last change,
 * or if a gap contains the time.
 */
export async function loadBookReceivedBy(
  reader: StoreReader,
  asked: { marketId: string; timeMs: number },
): Promise<ReceivedBook | null> {
  const until = `market_id = {marketId:String} AND ${SEEN_LIVE} AND received <= fromUnixTimestamp64Milli({timeMs:Int64}, 'UTC')`;
  const [books, quotes, gaps] = await Promise.all([
    reader.rows<StoredBookRow>(
      `SELECT ${BOOK_FIELDS} FROM books AS t WHERE ${until} ORDER BY t.seq DESC LIMIT 1`,
      {
        ...asked,
      },
    ),
    reader.rows<{ trusted: boolean }>(
      `SELECT trusted FROM quotes AS t WHERE ${until} ORDER BY t.seq DESC LIMIT 1`,
      { ...asked },
    ),
    reader.rows<{ count: number }>(
      `SELECT toUInt32(count()) AS count FROM gaps FINAL WHERE market_id = {marketId:String}
         AND ${GAP_START_RECEIVED} < fromUnixTimestamp64Milli({timeMs:Int64}, 'UTC')
         AND (isNull(end_time) OR ${GAP_END_RECEIVED} > fromUnixTimestamp64Milli({timeMs:Int64}, 'UTC'))`,
      { ...asked },
    ),
  ]);
  const [row] = books;
  if (row === undefined) return null;
  const book = storedBook(row);
  const trusted = (quotes[0]?.trusted ?? book.trusted) && (gaps[0]?.count ?? 0) === 0;
  return { trusted, ...viewsOf(book) };
}

export type SecondPrice = Pick<UnderlyingEvent, 'source' | 'price' | 'eventTimeMs' | 'receivedTimeMs'> & {
  ticker: Ticker;
};

/** The last price of each second since `sinceMs`, of every ticker and source, by their own time. */
export function loadSecondPrices(reader: StoreReader, sinceMs: number): Promise<SecondPrice[]> {
  return reader.rows(
    `SELECT ticker, source, argMax(t.price, (t.ts, t.seq)) AS price,
       toUnixTimestamp64Milli(max(t.ts)) AS eventTimeMs, toUnixTimestamp64Milli(max(t.received)) AS receivedTimeMs
     FROM underlying AS t
     WHERE t.ts >= fromUnixTimestamp64Milli({sinceMs:Int64}, 'UTC')
     GROUP BY ticker, source, toUnixTimestamp(t.ts) ORDER BY eventTimeMs`,
    { sinceMs },
  );
}

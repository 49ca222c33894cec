import type { RecordStream } from '../../bus/recordStream.ts';
import type { StoreReader } from '../../store/reader.ts';

/**
 * The stream may have this many messages fewer than were stored: a server that lost its power has lost those of two minutes
 * (240,000 in a busy cluster), and a new leader of a cluster answers before it has all of them. A process outside the
 * cluster, whose numbers follow the clock, is further ahead half a second after the stream's creation.
 */
const MESSAGES_BEHIND_MAX = 1_000_000;

/**
 * Why the stream's records would have no effect: of two records of a market the store keeps the one with the higher
 * number, and a process without the stream has stored higher numbers since the stream was created. Empty if not so.
 * @throws {StoreUnavailableError} When the store or the stream does not answer.
 */
export async function newerRecords(
  store: StoreReader,
  stream: Pick<RecordStream, 'baseSeq' | 'lastSeq'>,
): Promise<string[]> {
  const [newest] = await store.rows<{ seq: number | string }>('SELECT max(seq) AS seq FROM markets');
  const nextSeq = stream.baseSeq + 2 * ((await stream.lastSeq()) + 1);
  if (Number(newest?.seq ?? 0) < nextSeq + 2 * MESSAGES_BEHIND_MAX) return [];
  return [
    'a process outside the cluster has stored records after the stream was created, which hide those of the stream: ' +
      'stop every process, delete the NATS stream `underround`, and start again',
  ];
}

import type { RecordStream } from '../../bus/recordStream.ts';
import type { StoreReader } from '../../store/reader.ts';

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
  if (Number(newest?.seq ?? 0) < nextSeq) return [];
  return [
    'a process outside the cluster has stored records after the stream was created, which hide those of the stream: ' +
      'stop every process, delete the NATS stream `underround`, and start again',
  ];
}

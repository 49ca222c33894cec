import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { recordingPath, recordingsAbsent } from '../../../test/support/fixtures.ts';
import { MemorySink } from '../../../test/support/memorySink.ts';
import { forwardMerged, InterruptedMerge, NumberedStream } from '../../../test/support/numberedStream.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { forward, type RecordKind, recordSink } from '../../schema/records.ts';
import { FrameRouter } from '../import/frameRouter.ts';
import { importRecording } from '../import/importRecording.ts';
import { recordingsUnder } from '../import/recordedFiles.ts';
import { StreamSink } from '../publish/streamSink.ts';
import { Recorder } from '../recorder.ts';

/** A sink that keeps copies of all records, and the order of their kinds. */
function orderedSink() {
  const kept = new MemorySink();
  const order: RecordKind[] = [];
  const sink = recordSink((kind, record) => {
    order.push(kind);
    forward(kept, kind, record);
  });
  return { kept, order, sink };
}

/** Everything but the numbers, by kind. */
function contents(kept: MemorySink) {
  const withoutSeq = <T extends { seq: number }>(records: readonly T[]) =>
    records.map((record) => ({ ...record, seq: 0, knownSeq: 0 }));
  const { books, quotes, trades, underlyings, depths, markets, gaps } = kept;
  return [books, quotes, trades, underlyings, depths, markets, gaps].map((records) =>
    withoutSeq(records as { seq: number }[]),
  );
}

const RECORDINGS = [
  'polymarket/ligengxin96-2026-07-24',
  'polymarket/selcukguler0-2026-03-10-1925',
  'polymarket/bwijn-2026-05-26',
  'polymarket/ww-shan-polyFIFA2026',
  'bybit/linear-orderbook50-2026-03-13',
  'binance/hftbacktest-spot-btcusdt-2024-08-08',
];

describe.skipIf(recordingsAbsent)('a recording through the stream, from one collector', () => {
  it.each(RECORDINGS)(
    'gives the records of %s in the same order',
    async (path) => {
      const options = {
        clock: new FakeClock(0),
        log: silentLogger,
        metrics: new Metrics(),
        timeBy: 'receipt',
      } as const;
      const direct = orderedSink();
      const alone = new Recorder({ ...options, sink: direct.sink });

      const merged = orderedSink();
      const stream = new NumberedStream(0);
      const published = new StreamSink({
        stream,
        clock: options.clock,
        sender: 'a',
        run: 'run1',
        status: () => ({ reasons: [], degraded: [], priceSources: null }),
      });
      const collector = new Recorder({ ...options, metrics: new Metrics(), sink: published });
      collector.onActionEnd = (recorded, action) => published.actionEnded(recorded, action);
      let messages = 0;
      const merge = new InterruptedMerge(() => ++messages % 5_000 === 0);
      stream.onPlaced = (placed) => forwardMerged(merge.step(placed), merged.sink);

      for (const recorder of [alone, collector]) {
        const router = new FrameRouter({ recorder, log: silentLogger });
        for (const file of await recordingsUnder(recordingPath(path)))
          await importRecording(file, { router, fallbackTimeMs: 1_700_000_000_000 });
        router.finish();
        recorder.close();
      }
      expect(direct.order.length).toBeGreaterThan(10);
      expect(merged.order.length).toBe(direct.order.length);
      expect(merged.order).toEqual(direct.order);
      expect(contents(merged.kept)).toEqual(contents(direct.kept));
    },
    120_000,
  );
});

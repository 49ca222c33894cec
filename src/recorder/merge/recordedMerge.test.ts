import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { recordingPath, recordingsAbsent } from '../../../test/support/fixtures.ts';
import { MemorySink } from '../../../test/support/memorySink.ts';
import {
  forwardMerged,
  InterruptedMerge,
  NumberedStream,
  withoutNumbers,
} from '../../../test/support/numberedStream.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { forward, type RecordKind, recordSink } from '../../schema/records.ts';
import { generateHistory } from '../../simulator/history.ts';
import { VenueModel } from '../../simulator/model.ts';
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

/** A recorder on its own, and one whose records pass through a stream and the merge. */
function twoRecorders() {
  const options = { clock: new FakeClock(0), log: silentLogger, timeBy: 'receipt' } as const;
  const direct = orderedSink();
  const alone = new Recorder({ ...options, metrics: new Metrics(), sink: direct.sink });
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
  return { recorders: [alone, collector], direct, merged };
}

const RECORDINGS = [
  'polymarket/alimohammad1995-PolybotV2',
  'polymarket/ww-shan-polyFIFA2026',
  'binance/hftbacktest-spot-btcusdt-2024-08-08',
];

describe.skipIf(recordingsAbsent)('a recording through the stream, from one collector', () => {
  it.each(RECORDINGS)('gives the records of %s in the same order', async (path) => {
    const { recorders, direct, merged } = twoRecorders();
    for (const recorder of recorders) {
      const router = new FrameRouter({ recorder, log: silentLogger });
      for (const file of await recordingsUnder(recordingPath(path)))
        await importRecording(file, { router, log: silentLogger, fallbackTimeMs: 1_700_000_000_000 });
      router.finish();
      recorder.close();
    }
    expect(direct.order.length).toBeGreaterThan(5);
    expect(merged.order).toEqual(direct.order);
    expect(withoutNumbers(merged.kept)).toEqual(withoutNumbers(direct.kept));
  });
});

describe('minutes of the simulated venue through the stream, from one collector', () => {
  it('gives the records of one process in the same order', () => {
    const startTimeMs = Date.UTC(2026, 10, 20, 12, 0, 0);
    const model = new VenueModel({
      seed: 'stream',
      startTimeMs,
      density: 0.02,
      tickers: ['BTC'],
      eventTypes: ['5m', '1h'],
    });
    const { recorders, direct, merged } = twoRecorders();
    const routers = recorders.map((recorder) => new FrameRouter({ recorder, log: silentLogger }));
    for (const { feed, frame, receivedTimeMs } of generateHistory(model, {
      endTimeMs: startTimeMs + 150_000,
    }))
      for (const router of routers)
        router.route(
          feed === 'binance.spot' ? 'binance' : feed === 'bybit.rest' ? 'bybit.rest' : feed,
          frame,
          receivedTimeMs,
        );
    for (const recorder of recorders) recorder.close();
    const { books, quotes, trades, underlyings, depths, markets } = direct.kept;
    for (const kind of [books, quotes, trades, underlyings, depths, markets])
      expect(kind.length).toBeGreaterThan(5);
    expect(merged.order).toEqual(direct.order);
    expect(withoutNumbers(merged.kept)).toEqual(withoutNumbers(direct.kept));
  });
});

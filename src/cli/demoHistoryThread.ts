/** Entry of the thread that records the demo's older history. The newest minutes are recorded already. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { DiskReserve } from '../config/values.ts';
import { systemClock } from '../runtime/clock.ts';
import { createLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { generateHistory, inPlayFrames } from '../simulator/history.ts';
import { openStore } from '../store/store.ts';
import { type HistorySpan, historyModel, PartialSink, SimulatedHistoryRecorder } from './demoHistory.ts';

export interface HistoryThreadSettings {
  readonly span: HistorySpan;
  readonly dataDir: string;
  readonly diskReserve: DiskReserve | null;
  readonly logLevel: string;
}

/** Sent at intervals; `stored` is true in the last report, once all of the history can be read. */
export interface HistoryThreadReport {
  readonly share: number;
  readonly frames: number;
  readonly stored: boolean;
}

const FRAMES_PER_REPORT = 2_000;
/** At most this many frames wait for the engine, so memory stays bounded. */
const FRAMES_PER_FLUSH = 20_000;

/** For the first moment of the newest minutes, this thread records only the ends of gaps. */
const ALL_BUT_GAPS = ['market', 'book', 'quote', 'trade', 'underlying', 'perpDepth'] as const;

await fill(workerData as HistoryThreadSettings);

async function fill({ span, dataDir, diskReserve, logLevel }: HistoryThreadSettings): Promise<void> {
  const log = createLogger(logLevel);
  const common = { clock: systemClock, log, metrics: new Metrics() };
  const model = historyModel(span);
  const storing = { dataDir, diskReserve, clickhouseUrl: null, writerName: 'history' };
  const store = await openStore({ ...common, ...storing });
  const part = new PartialSink(store.writer);
  // The prices are recorded already.
  part.leaveOut(['underlying']);
  const recorder = new SimulatedHistoryRecorder(part.sink, { log });
  const lengthMs = span.newestFromMs - span.startTimeMs;
  const report = (share: number, stored: boolean) =>
    parentPort?.postMessage({ share, frames: recorder.frames, stored } satisfies HistoryThreadReport);
  for (const frame of generateHistory(model, { endTimeMs: span.newestFromMs })) {
    recorder.record(frame);
    if (recorder.frames % FRAMES_PER_REPORT !== 0) continue;
    report((frame.receivedTimeMs - span.startTimeMs) / lengthMs, false);
    if (recorder.frames % FRAMES_PER_FLUSH === 0) await store.writer.flush();
    else await nextTurn();
  }
  recorder.finish();
  part.leaveOut(ALL_BUT_GAPS);
  // The books at the start of the newest minutes close any open gaps.
  for (const frame of inPlayFrames(model)) recorder.record(frame);
  recorder.close();
  await store.close();
  report(1, true);
}

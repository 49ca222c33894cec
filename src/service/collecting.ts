import type { CollectorStatus, RecordStream } from '../bus/recordStream.ts';
import type { Readiness } from '../ops/readiness.ts';
import { StreamSink } from '../recorder/publish/streamSink.ts';
import { Recorder } from '../recorder/recorder.ts';
import { resumeCollecting } from '../recorder/resume.ts';
import type { StoreReader } from '../store/reader.ts';
import { openFeeds } from './feeds.ts';
import type { NodeOptions } from './nodeOptions.ts';

/** One role of a process of a cluster. */
export interface RunningRole {
  addChecks(readiness: Readiness): void;
  stop(): Promise<void>;
}

/**
 * The role `collect`: the venues' feeds into the stream. Every collector records everything; the stream keeps the first
 * copy of each fact.
 */
export async function startCollecting(
  { stream, sender, run, store }: { stream: RecordStream; sender: string; run: string; store: StoreReader },
  options: NodeOptions,
): Promise<RunningRole> {
  const { clock, log, metrics } = options;
  const status = (): CollectorStatus => ({
    reasons: [...stream.reasons(), ...feeds.reasons()],
    degraded: [...feeds.degraded(), ...waitingLines(stream.waiting)],
    priceSources: feeds.collector.priceSources.status(),
  });
  const connections = () => ({
    feeds: metrics.venueFeeds.rows(),
    unknownVersions: metrics.unknownVersions.rows(),
  });
  const sink = new StreamSink({ stream, clock, sender, run, status, connections });
  const recorder = new Recorder({ sink, clock, log, metrics, timeBy: 'clock' });
  recorder.onActionEnd = (recorded, action) => sink.actionEnded(recorded, action);
  // A full outbox opens gaps, which are sent when it has room again.
  const feeds = await openFeeds({ ...options, recorder, bus: null, isDropping: () => stream.isDropping });
  sink.start();
  feeds.start(await resumeCollecting({ store, recorder, clock, log }));
  return {
    addChecks: (readiness) => readiness.addDegraded(() => status().degraded),
    stop: async () => {
      await feeds.stop();
      sink.close();
    },
  };
}

function waitingLines(waiting: number): string[] {
  return waiting === 0 ? [] : [`${waiting} messages wait on disk for the stream`];
}

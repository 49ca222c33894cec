import { systemClock } from '../clock.ts';
import { CountingSink } from '../collect/countingSink.ts';
import { FrameRouter } from '../collect/frameRouter.ts';
import { importRecording } from '../collect/importRecording.ts';
import { recordingsUnder } from '../collect/recordedFiles.ts';
import { Recorder } from '../collect/recorder.ts';
import type { Config } from '../config.ts';
import { InvalidInputError } from '../errors.ts';
import { createLogger } from '../ops/log.ts';
import { Metrics } from '../ops/metrics.ts';
import { openStore } from '../store/store.ts';

/**
 * Plays recordings into the store of a data directory; a server may be running on it.
 * @throws {InvalidInputError} When nothing could be read, or no frame of it was understood.
 */
export async function importInto(config: Config, target: string) {
  const files = await recordingsUnder(target);
  const log = createLogger(config.logLevel);
  const common = { clock: systemClock, log, metrics: new Metrics() };
  const { dataDir, clickhouseUrl } = config;
  const store = await openStore({ ...common, dataDir, clickhouseUrl, writerName: 'import' });
  try {
    const sink = new CountingSink(store.writer);
    const recorder = new Recorder({ ...common, sink, timeBy: 'receipt' });
    const router = new FrameRouter({ recorder, log });
    let frames = 0;
    for (const file of files) {
      // The writer takes rows faster than the engine: wait for it now and then, so that memory stays bounded.
      const onProgress = () => store.writer.flush();
      frames += await importRecording(file, { router, fallbackTimeMs: systemClock.now(), onProgress });
      recorder.finishQuiet(Number.POSITIVE_INFINITY);
    }
    recorder.close();
    await store.writer.flush();
    if (frames === 0 || router.rejected === frames) {
      throw new InvalidInputError(`no frame under ${target} was understood (${frames} read)`);
    }
    return {
      files: files.length,
      frames,
      rejected: router.rejected,
      frames_by_feed: Object.fromEntries(router.counts),
      recorded: sink.counts,
      markets: [...sink.marketIds],
    };
  } finally {
    await store.close();
  }
}

/** Opens the recording that a strategy file reads: of a data directory, or of a service. */
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Silence } from '../client/silence.ts';
import { type Clock, sleep, systemClock } from '../runtime/clock.ts';
import { systemReason } from '../runtime/systemReason.ts';
import { type Ask, RemoteTapes } from '../strategy/remoteTapes.ts';
import { TapeCache } from '../strategy/tapeCache.ts';
import { storedTapes, type TapeSource } from '../strategy/tapeSource.ts';
import { cacheFolder } from './cacheFolder.ts';
import { openRecording } from './openRecording.ts';
import { printBelowBar } from './progress.ts';
import { type RemoteService, remoteService, SILENCE_S_MAX } from './remote.ts';
import { readSettings } from './settings.ts';

/** @throws {ConfigError} @throws {InvalidInputError} If there is no recording. @throws {StoreUnavailableError} */
export async function openTapes(
  options: { readonly dataDir?: string; readonly url?: string },
  signal: AbortSignal,
): Promise<{ source: TapeSource; close: () => Promise<void> }> {
  // A data directory that is named is read, whatever service the environment names.
  const service = options.dataDir === undefined ? remoteService(options) : null;
  if (service !== null) return { source: await openRemote(service, signal), close: async () => undefined };
  const config = await readSettings({ dataDir: options.dataDir, use: 'read recording' });
  const store = await openRecording(config);
  return { source: storedTapes(store), close: () => store.close() };
}

export async function openRemote(service: RemoteService, signal: AbortSignal): Promise<RemoteTapes> {
  const folder = join(cacheFolder(), 'tapes');
  const cache = new TapeCache(folder, (cause) => {
    printBelowBar(`underround: warning: tapes are not cached in ${folder}: ${systemReason(cause)}`);
  });
  await cache.prune();
  console.error(`underround: recording of ${service.url}`);
  const ask = askOf(service, systemClock);
  const onRetry = (sentence: string) => printBelowBar(`underround: warning: ${sentence}`);
  return new RemoteTapes({ url: service.url, ask, clock: systemClock, cache, signal, onRetry });
}

/** Sends a request, which fails once nothing was received for `SILENCE_S_MAX` seconds. */
export function askOf({ url, key }: RemoteService, clock: Clock): Ask {
  const after = (delayMs: number, over: () => void) => {
    const timer = clock.after(delayMs, over);
    return () => timer.cancel();
  };
  const timers = { now: () => clock.now(), sleep: (ms: number) => sleep(clock, ms), after };
  return async (path, signal) => {
    const headers = { authorization: `Bearer ${key.reveal()}` };
    const silence = new Silence(timers, SILENCE_S_MAX * 1_000, signal);
    const response = await silence.answer(fetch(`${url}${path}`, { headers, signal: silence.signal }));
    const retryAfter = response.headers.get('retry-after');
    return {
      status: response.status,
      retryAfterS: retryAfter === null || !/^\d+$/.test(retryAfter) ? null : Number(retryAfter),
      body: response.body === null ? Readable.from([]) : Readable.fromWeb(response.body as never),
    };
  };
}

/** Opens the recording that a strategy file reads: of a data directory, or of a service. */
import { storedTapes, type TapeSource } from '../strategy/tapeSource.ts';
import { openRecording } from './openRecording.ts';
import { readSettings } from './settings.ts';
import type { StrategyOptions } from './strategyOptions.ts';

/** @throws {ConfigError} @throws {InvalidInputError} If there is no recording. @throws {StoreUnavailableError} */
export async function openTapes(
  { dataDir }: Pick<StrategyOptions, 'dataDir' | 'url'>,
  _signal: AbortSignal,
): Promise<{ source: TapeSource; close: () => Promise<void> }> {
  const config = await readSettings({ dataDir, use: 'read recording' });
  const store = await openRecording(config);
  return { source: storedTapes(store), close: () => store.close() };
}

import type { ServiceState } from '../api/schema.ts';
import { duration } from '../ui/format.ts';

/** Rows wait a second or two at rest; a longer lag is shown. */
const LAG_SHOWN_SECONDS = 3;

/** One line a reader must know before reading the page. */
export interface Notice {
  readonly isSevere: boolean;
  readonly text: string;
}

/**
 * What is wrong with the service, the lag first.
 * @param error Why the state could not be asked for; null: it was.
 * @param meanwhile What a lag means for the page.
 */
export function noticesOf(
  state: ServiceState | undefined,
  { error, meanwhile }: { error: Error | null; meanwhile: string },
): Notice[] {
  if (error !== null) return [{ isSevere: true, text: `What is shown may be old. ${error.message}` }];
  if (state === undefined) return [];
  const { store_lag_seconds: lag, ready, reasons, degraded } = state;
  const behind = lag < LAG_SHOWN_SECONDS ? [] : [`Stored data is ${duration(lag)} behind; ${meanwhile}`];
  return [
    ...behind.map((text) => ({ isSevere: false, text })),
    ...(ready ? [] : [{ isSevere: true, text: `The service is not ready: ${reasons.join(', ')}` }]),
    ...(degraded.length === 0 ? [] : [{ isSevere: false, text: `Late or missing: ${degraded.join(', ')}` }]),
  ];
}

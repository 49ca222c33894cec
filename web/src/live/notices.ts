import type { ServiceState } from '../api/schema.ts';
import { duration } from '../ui/format.ts';

/** Rows normally wait a second or two; a longer lag is shown. */
const LAG_SHOWN_SECONDS = 3;

/** One problem, as a line at the top of the page. */
interface Notice {
  readonly isSevere: boolean;
  readonly text: string;
}

/**
 * Problems of the service, the lag first.
 * @param error Why the state could not be loaded; null: it was loaded.
 * @param meanwhile Effect of a lag on the page.
 */
export function noticesOf(
  state: ServiceState | undefined,
  { error, meanwhile }: { error: Error | null; meanwhile: string },
): Notice[] {
  if (error !== null) return [{ isSevere: true, text: `This page may be out of date. ${error.message}` }];
  if (state === undefined) return [];
  const { store_lag_seconds: lag, ready, reasons, degraded } = state;
  const behind = lag < LAG_SHOWN_SECONDS ? [] : [`Stored data is ${duration(lag)} behind; ${meanwhile}`];
  return [
    ...behind.map((text) => ({ isSevere: false, text })),
    ...(ready ? [] : [{ isSevere: true, text: `The service is not ready: ${reasons.join(', ')}` }]),
    ...(degraded.length === 0 ? [] : [{ isSevere: false, text: `Late or missing: ${degraded.join(', ')}` }]),
  ];
}

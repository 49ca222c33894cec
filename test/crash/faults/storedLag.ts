/** The delay of the store's data behind the venue, measured from outside. */
import type { Reply, ServiceProcess } from './serviceProcess.ts';
import type { VenueRecord } from './venueRecord.ts';

const ANSWER_LIMIT_MS = 60_000;

/**
 * The time between the newest stored state of the busiest market and the newest state the venue had sent at the
 * request. Null without an answer.
 */
export async function storedLagMs(service: ServiceProcess, record: VenueRecord): Promise<number | null> {
  const marketId = record.busiest();
  if (marketId === null) return null;
  const sentMs = record.statesOf(marketId).at(-1)?.tsMs ?? 0;
  const path = `/v1/snapshots?market_id=${marketId}&order=desc&limit=1&depth=1`;
  const { status, body } = await service.get(path, ANSWER_LIMIT_MS);
  if (status !== 200) return null;
  const [newest] = (JSON.parse(body) as { snapshots: { ts: string }[] }).snapshots;
  return newest === undefined ? null : Math.max(0, sentMs - Date.parse(newest.ts));
}

/** Whether `/readyz` reports that the service is not ready, and why. */
export function notReady({ status, body }: Reply): { isShown: boolean; reasons: string } {
  if (status !== 503) return { isShown: false, reasons: '' };
  const reasons = (JSON.parse(body) as { reasons?: readonly string[] }).reasons ?? [];
  return { isShown: reasons.length > 0, reasons: reasons.join('; ') };
}

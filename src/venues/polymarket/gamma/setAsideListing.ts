import type { VenueDrift } from '../../../runtime/venueDrift.ts';
import { setAsideRefused } from '../../drift/messageWatch.ts';
import type { GammaRejection } from './mapper.ts';

/** Refusals that say nothing about the format: the venue lists such objects every day. */
const ORDINARY: ReadonlySet<GammaRejection['reason']> = new Set([
  'other_series',
  'wrong_year',
  'zombie',
  'ids_not_available',
]);

/** Sets a refused object of the listing aside, unless such objects are ordinary. */
export function setAsideListing(
  drift: VenueDrift,
  refused: { listed: unknown; refusal: GammaRejection; receivedTimeMs: number },
): void {
  const { listed, refusal, receivedTimeMs } = refused;
  if (ORDINARY.has(refusal.reason)) return;
  const text = JSON.stringify(listed);
  const kind = text.includes('"markets":') ? 'event' : 'market';
  const { reason } = refusal;
  setAsideRefused(drift, { feed: 'polymarket.gamma', text, kind, reason, receivedTimeMs });
}

import type { Selectable } from 'kysely';
import { InvalidInputError } from '../../runtime/errors.ts';
import { TICKERS, type Ticker } from '../../schema/market.ts';
import { WEBHOOK_EVENTS, type WebhookEventName } from '../../schema/notification.ts';
import { PUSHED_TIERS, type PushedTier } from '../../schema/opportunity.ts';
import type { WebhooksTable } from '../schemaWebhooks.ts';

/** A registration's filters as stored. */
type Filters = Pick<Selectable<WebhooksTable>, 'tiers' | 'tickers' | 'events' | 'filters_since'>;

/** Null is stored as the full list, so the column has no null. @throws {InvalidInputError} */
export function tiersText(tiers: readonly PushedTier[] | null): string {
  return listText('tiers', PUSHED_TIERS, tiers ?? PUSHED_TIERS);
}

/**
 * @param tickers Null: all, including future ones.
 * @param followed The assets that a filter may name.
 * @throws {InvalidInputError}
 */
export function tickersText(tickers: readonly Ticker[] | null, followed: readonly Ticker[]): string | null {
  return tickers === null ? null : listText('tickers', followed, tickers);
}

/** @throws {InvalidInputError} */
export function eventsText(events: readonly WebhookEventName[]): string {
  return listText('events', WEBHOOK_EVENTS, events);
}

/** Since when each kind, ticker and event is wanted: earlier ones keep their time, new ones begin now. */
export function filtersSince(before: Filters, after: Omit<Filters, 'filters_since'>, nowMs: number): string {
  const had = namesOf(before);
  const known: Record<string, number> = JSON.parse(before.filters_since);
  const since = namesOf(after).map((name) => [name, had.includes(name) ? known[name] : nowMs]);
  // JSON omits names wanted since the registration, whose time is undefined.
  return JSON.stringify(Object.fromEntries(since));
}

function namesOf({ tiers, tickers, events }: Omit<Filters, 'filters_since'>): readonly string[] {
  return [...JSON.parse(tiers), ...(tickers === null ? TICKERS : JSON.parse(tickers)), ...JSON.parse(events)];
}

/** In the order of the enumeration, each once. @throws {InvalidInputError} If it is empty or holds an unknown value. */
function listText<T extends string>(name: keyof Filters, known: readonly T[], given: readonly T[]): string {
  const unknown = given.find((value) => !known.includes(value));
  if (given.length === 0 || unknown !== undefined) {
    throw new InvalidInputError(`${name} must be some of ${known.join(', ')}`);
  }
  return JSON.stringify(known.filter((value) => given.includes(value)));
}

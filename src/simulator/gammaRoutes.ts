/** Gamma's REST interface: events, markets, and the refusals in front of them. */
import { normalMarketId } from '../schema/protocol.ts';
import type { FaultState, RefusedAnswer } from './faultState.ts';
import { type GammaObject, gammaEvent, gammaMarket } from './gammaObjects.ts';
import { json, type Reply } from './httpReply.ts';
import type { SimulatedMarket } from './markets.ts';
import type { VenueModel } from './model.ts';
import { lastYearEvent, reverseOutcomes, stripNumbers, zombieEvent } from './oddMarkets.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 500;
const KEYSET_LIMIT = 20;
const KEYSET_LIMIT_MAX = 100;

/** @param path Below `/gamma`. @returns Null when the venue has no such route. */
export function gammaReply(
  model: VenueModel,
  faults: FaultState,
  request: { path: string; query: URLSearchParams; nowMs: number },
): Reply | null {
  const refusal = faults.consumeGammaRefusal();
  if (refusal) return refused(refusal);
  const { path, query, nowMs } = request;
  const shape = (event: GammaObject) => bent(event, faults);
  if (path === '/events/keyset')
    return keysetReply(query, listEvents(model, faults, { query, nowMs }).map(shape));
  if (path === '/events') return json(page(query, listEvents(model, faults, { query, nowMs })).map(shape));
  if (path === '/markets') {
    const markets = page(query, listMarkets(model, { query, nowMs }));
    return json(markets.map((market) => marketWithEvent(market, faults, nowMs)));
  }
  const [, kind, slug] = /^\/(events|markets)\/slug\/([^/]+)$/.exec(path) ?? [];
  if (!slug) return null;
  const lastYear = faults.lastYearSlug ? lastYearEvent(slug) : null;
  if (lastYear) return json(kind === 'events' ? lastYear : (lastYear.markets as GammaObject[])[0]);
  const market = model.registry.bySlug(slug, nowMs);
  if (!market) return json({ type: 'not found error', error: 'slug not found' }, 404);
  return json(kind === 'events' ? shape(gammaEvent(market, nowMs)) : marketWithEvent(market, faults, nowMs));
}

function listEvents(
  model: VenueModel,
  faults: FaultState,
  { query, nowMs }: { query: URLSearchParams; nowMs: number },
): GammaObject[] {
  const events = listMarkets(model, { query, nowMs }).map((market) => gammaEvent(market, nowMs));
  const slugs = query.getAll('slug');
  if (faults.lastYearSlug) {
    for (const slug of slugs) events.push(...[lastYearEvent(slug)].filter((event) => event !== null));
  }
  const endMin = query.get('end_date_min');
  const zombie = zombieEvent(model.seed, nowMs);
  const zombieFits = endMin === null || Date.parse(String(zombie.endDate)) >= Date.parse(endMin);
  if (faults.zombieMarket && slugs.length === 0 && zombieFits) events.unshift(zombie);
  return events;
}

function listMarkets(
  model: VenueModel,
  { query, nowMs }: { query: URLSearchParams; nowMs: number },
): SimulatedMarket[] {
  // According to the current documentation, `closed` defaults to false.
  const closed = query.get('closed') === 'true';
  const endMinMs = dateOf(query.get('end_date_min')) ?? 0;
  const endMaxMs = dateOf(query.get('end_date_max')) ?? Number.POSITIVE_INFINITY;
  const found = candidates(model, { query, nowMs, endMinMs, endMaxMs }).filter(({ facts, fate }) => {
    const { endTimeMs } = facts.window;
    return fate.isFinal === closed && endTimeMs >= endMinMs && endTimeMs <= endMaxMs;
  });
  return query.get('ascending') === 'false' ? found.reverse() : found;
}

function candidates(
  model: VenueModel,
  ask: { query: URLSearchParams; nowMs: number; endMinMs: number; endMaxMs: number },
): SimulatedMarket[] {
  const { query, nowMs } = ask;
  const split = (name: string) => query.getAll(name).flatMap((value) => value.split(','));
  const slugs = split('slug');
  if (slugs.length > 0) return present(slugs.map((slug) => model.registry.bySlug(slug, nowMs)));
  const conditions = split('condition_ids');
  const ids = [...conditions, ...split('clob_token_ids')];
  if (ids.length > 0) {
    const found = present(ids.map((id) => model.registry.byId(normalMarketId(id))));
    return found.filter(({ facts }) => conditions.length === 0 || conditions.includes(facts.listedId));
  }
  return model.registry.listed(nowMs, {
    series: split('series_slug'),
    endMinMs: ask.endMinMs,
    endMaxMs: ask.endMaxMs,
  });
}

function present(markets: (SimulatedMarket | null)[]): SimulatedMarket[] {
  return [...new Set(markets.filter((market) => market !== null))];
}

function marketWithEvent(market: SimulatedMarket, faults: FaultState, nowMs: number): GammaObject {
  const events = [gammaEvent(market, nowMs, false)];
  const event = bent({ markets: [{ ...gammaMarket(market, nowMs), events }] }, faults);
  return (event.markets as GammaObject[])[0] as GammaObject;
}

/** Applies the listing faults to every market object inside an event. */
function bent(event: GammaObject, faults: FaultState): GammaObject {
  let markets = event.markets as GammaObject[];
  if (faults.reversedOutcomes) markets = markets.map(reverseOutcomes);
  if (faults.missingFields) markets = markets.map(stripNumbers);
  return { ...event, markets };
}

/** A page after a cursor, which is the place of its first event; `offset` is refused, as by the venue. */
function keysetReply(query: URLSearchParams, events: GammaObject[]): Reply {
  if (query.has('offset')) return json({ type: 'validation error', error: 'offset is not supported' }, 422);
  const limit = Math.min(KEYSET_LIMIT_MAX, Number(query.get('limit') ?? KEYSET_LIMIT));
  const from = Number(Buffer.from(query.get('after_cursor') ?? '', 'base64url').toString() || 0);
  const to = from + limit;
  const next_cursor = to < events.length ? Buffer.from(String(to)).toString('base64url') : null;
  return json({ events: events.slice(from, to), next_cursor });
}

function page<T>(query: URLSearchParams, items: T[]): T[] {
  const limit = Math.min(MAX_LIMIT, Number(query.get('limit') ?? DEFAULT_LIMIT));
  const offset = Number(query.get('offset') ?? 0);
  return items.slice(offset, offset + limit);
}

function dateOf(value: string | null): number | null {
  const timeMs = value === null ? Number.NaN : Date.parse(value);
  return Number.isNaN(timeMs) ? null : timeMs;
}

const CHALLENGE =
  '<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>Checking your browser</body></html>';

function refused(answer: RefusedAnswer): Reply {
  if (answer === 'forbidden') return { status: 403, body: 'error code: 1010', contentType: 'text/plain' };
  if (answer === 'html') return { status: 200, body: CHALLENGE, contentType: 'text/html; charset=utf-8' };
  return {
    status: 429,
    body: 'Too Many Requests',
    contentType: 'text/plain',
    headers: { 'retry-after': '1' },
  };
}

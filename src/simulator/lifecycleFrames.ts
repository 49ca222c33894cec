/** Market-channel frames about listed and resolved markets. */

import type { Random } from '../core/random.ts';
import { describeMarket, marketTags } from './gammaObjects.ts';
import type { MarketFacts, SimulatedMarket } from './markets.ts';

export function resolvedFrame({ facts, fate }: SimulatedMarket, timestampMs: number): string {
  return JSON.stringify({
    id: facts.gammaId,
    market: facts.conditionId,
    assets_ids: [facts.upToken, facts.downToken],
    winning_asset_id: fate.outcome === 'Up' ? facts.upToken : facts.downToken,
    winning_outcome: fate.outcome,
    event_message: null,
    timestamp: String(timestampMs),
    event_type: 'market_resolved',
    tags: marketTags(facts),
    ...(facts.version === 'v2' ? { version: 'v2' } : {}),
  });
}

export function newMarketFrame(facts: MarketFacts, timestampMs: number): string {
  const { question, description } = describeMarket(facts);
  return listingFrame({
    id: facts.gammaId,
    eventId: facts.eventId,
    conditionId: facts.conditionId,
    slug: facts.slug,
    tokens: [facts.upToken, facts.downToken],
    outcomes: ['Up', 'Down'],
    tags: marketTags(facts),
    startTime: new Date(facts.window.startTimeMs).toISOString(),
    question,
    description,
    timestampMs,
  });
}

/** The channel covers the whole platform: most listings belong to markets that nobody here follows. */
export function foreignMarketFrame(random: Random, timestampMs: number): string {
  const number = random.below(1_000_000);
  return listingFrame({
    id: random.decimal(7),
    eventId: random.decimal(6),
    conditionId: `0x${random.hex(64)}`,
    slug: `match-winner-${number}`,
    tokens: [random.decimal(77), random.decimal(77)],
    outcomes: ['Yes', 'No'],
    tags: ['Sports'],
    startTime: '',
    question: `Will the home side win match ${number}?`,
    description: 'This market will resolve to "Yes" if the home side wins.',
    timestampMs,
  });
}

interface Listing {
  id: string;
  eventId: string;
  conditionId: string;
  slug: string;
  tokens: string[];
  outcomes: string[];
  tags: string[];
  startTime: string;
  question: string;
  description: string;
  timestampMs: number;
}

function listingFrame(listing: Listing): string {
  const { eventId, conditionId, slug, question, description, tokens } = listing;
  return JSON.stringify({
    event_type: 'new_market',
    id: listing.id,
    question,
    market: conditionId,
    slug,
    description,
    assets_ids: tokens,
    outcomes: listing.outcomes,
    event_message: { id: eventId, ticker: slug, slug, title: question, description },
    timestamp: String(listing.timestampMs),
    tags: listing.tags,
    condition_id: conditionId,
    active: true,
    clob_token_ids: tokens,
    sports_market_type: '',
    line: '',
    game_start_time: listing.startTime,
    order_price_min_tick_size: '0.01',
    group_item_title: '',
  });
}

import type { Opportunity } from '../../schema/opportunity.ts';
import type { SystemEvent } from '../../schema/systemEvent.ts';

/** A message for people: plain lines, and the page to open. */
export interface ChatText {
  readonly lines: readonly string[];
  readonly link: string | null;
}

const SECONDS_PER_MINUTE = 60;
const DIRECTIONS = { BUY_YES: 'buy YES', BUY_NO: 'buy NO', BUY_BOTH: 'buy YES and NO' } as const;

/** The slug of test events. */
export const TEST_SLUG = 'test-event';

/** @param body The JSON of an event, as the signed format sends it. */
export function chatTextOf(body: string): ChatText {
  const event = JSON.parse(body) as Opportunity | SystemEvent;
  return event.type === 'opportunity' ? opportunityText(event) : systemText(event);
}

/** Numbers are printed as the signed body has them. */
function opportunityText(event: Opportunity): ChatText {
  if (event.polymarket_slug === TEST_SLUG) return { lines: ['Test: this webhook works.'], link: null };
  const { tier, ticker, event_type, direction, fill_price, confidence } = event;
  const unit = direction === 'BUY_BOTH' ? 'pair' : 'share';
  const held = confidence === 'stable' ? 'held for 30 s or more' : 'newer than 30 s';
  return {
    lines: [
      `${ticker} ${event_type}: ${DIRECTIONS[direction]} at ${fill_price} (${tier})`,
      `Expected profit ${event.expected_pnl_per_share} USDC a ${unit} after a fee of ${event.est_fee_per_share}.`,
      `Model: YES ${(event.model_yes_prob * 100).toFixed(1)} %. Price ${held}. ${timeLeft(event.tau_minutes)} left at detection.`,
    ],
    link: event.polymarket_url,
  };
}

function systemText({ state, summary, began_at, ended_at, url }: SystemEvent): ChatText {
  const since = state === 'began' ? `Since ${began_at}.` : `From ${began_at} to ${ended_at}.`;
  return { lines: [`${state === 'began' ? 'Problem' : 'Resolved'}: ${summary}`, since], link: url };
}

function timeLeft(minutes: number): string {
  const seconds = Math.max(0, Math.floor(minutes * SECONDS_PER_MINUTE));
  return `${Math.floor(seconds / SECONDS_PER_MINUTE)} min ${seconds % SECONDS_PER_MINUTE} s`;
}

import type { FeedStatus } from '../../api/schema.ts';
import { number } from '../../ui/format.ts';

type Feed = FeedStatus['feeds'][number];

/** Most feeds that the summary names; the table below it has all. */
const NAMES_MAX = 2;

/** Feeds that are requested on demand and were not needed yet: neither up nor down. */
export function isIdle({ kind, last_message_at, failures }: Feed): boolean {
  return kind === 'requests' && last_message_at === null && failures === 0;
}

/** How many feeds are up, and in its note the names of the others and the open gaps. */
export function feedsFigure({
  feeds,
  gaps,
}: Pick<FeedStatus, 'feeds' | 'gaps'>): [value: string, note: string] {
  const others = feeds.filter(({ up, connections }) => up !== connections);
  const notes = [
    ...namesOf(
      'down',
      others.filter((feed) => !isIdle(feed)),
    ),
    ...namesOf('not needed yet', others.filter(isIdle)),
    gaps.length === 0 ? 'no open gap' : `${number(gaps.length)} open ${gaps.length === 1 ? 'gap' : 'gaps'}`,
  ];
  return [`${feeds.length - others.length} of ${feeds.length}`, notes.join('; ')];
}

/** E.g. `down: binance, polymarket.clob BTC-5m and 3 more`; empty without a feed. */
function namesOf(what: string, feeds: readonly Feed[]): string[] {
  if (feeds.length === 0) return [];
  const names = feeds
    .slice(0, NAMES_MAX)
    .map(({ feed, group, collector }) => [feed, group, collector].filter((part) => part != null).join(' '));
  const more = feeds.length - names.length;
  return [`${what}: ${names.join(', ')}${more > 0 ? ` and ${number(more)} more` : ''}`];
}

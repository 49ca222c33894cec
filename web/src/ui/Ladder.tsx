import type { ReactNode } from 'react';
import { cents, shares } from './format.ts';
import classes from './Ladder.module.css';

type Level = readonly [price: number, size: number];

/** How a ladder prints its prices and sizes. */
export interface LadderUnits {
  /** Heading of the sizes. */
  readonly sizes: string;
  readonly price: (price: number) => string;
  readonly size: (size: number) => string;
}

const SHARES: LadderUnits = { sizes: 'Shares', price: cents, size: shares };

/** One book, of a token unless `units` says otherwise: asks above, bids below, best ones in the middle; bars show sizes. */
export function Ladder({
  title,
  bids,
  asks,
  rows = 6,
  units = SHARES,
}: {
  title: string;
  bids: readonly Level[];
  asks: readonly Level[];
  rows?: number;
  units?: LadderUnits;
}): ReactNode {
  const shownAsks = asks.slice(0, rows);
  const shownBids = bids.slice(0, rows);
  const largest = Math.max(0, ...[...shownAsks, ...shownBids].map(([, size]) => size)) || 1;
  return (
    <table className={classes.ladder}>
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">Price</th>
          <th scope="col">{units.sizes}</th>
        </tr>
      </thead>
      <tbody>
        {padded(shownAsks, rows)
          .toReversed()
          .map((level, index) => (
            <Row
              key={level?.[0] ?? `ask-${index}`}
              level={level}
              largest={largest}
              side="ask"
              units={units}
            />
          ))}
      </tbody>
      <tbody className={classes.bids}>
        {padded(shownBids, rows).map((level, index) => (
          <Row key={level?.[0] ?? `bid-${index}`} level={level} largest={largest} side="bid" units={units} />
        ))}
      </tbody>
    </table>
  );
}

/** Always the same number of rows, so that a page does not jump when a level appears or disappears. */
function padded(levels: readonly Level[], rows: number): (Level | null)[] {
  return Array.from({ length: rows }, (_, index) => levels[index] ?? null);
}

function Row({
  level,
  largest,
  side,
  units,
}: {
  level: Level | null;
  largest: number;
  side: 'bid' | 'ask';
  units: LadderUnits;
}): ReactNode {
  const share = level === null ? 0 : Math.round((level[1] / largest) * 100);
  const colour = side === 'bid' ? 'var(--up-soft)' : 'var(--down-soft)';
  return (
    <tr style={{ background: `linear-gradient(to left, ${colour} ${share}%, transparent ${share}%)` }}>
      <td className={side === 'bid' ? 'up' : 'down'}>{level === null ? ' ' : units.price(level[0])}</td>
      <td>{level === null ? ' ' : units.size(level[1])}</td>
    </tr>
  );
}

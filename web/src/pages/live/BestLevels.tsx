import type { ReactNode } from 'react';
import type { CardBook } from '../../live/cardFigures.ts';
import type { Level } from '../../live/messages.ts';
import { cents, shares } from '../../ui/format.ts';
import classes from './BestLevels.module.css';

const PLACES = [0, 1, 2] as const;

/** The three best levels of each side of both tokens, bids beside asks; bars show sizes. */
export function BestLevels({ book }: { book: CardBook }): ReactNode {
  const { yesBids, yesAsks, noBids, noAsks } = book;
  const largest = Math.max(1, ...[yesBids, yesAsks, noBids, noAsks].flat().map(([, size]) => size));
  return (
    <div className={classes.books}>
      <Levels token="Up" bids={yesBids} asks={yesAsks} largest={largest} />
      <Levels token="Down" bids={noBids} asks={noAsks} largest={largest} />
    </div>
  );
}

function Levels({
  token,
  bids,
  asks,
  largest,
}: {
  token: string;
  bids: readonly Level[];
  asks: readonly Level[];
  largest: number;
}): ReactNode {
  return (
    <table className={classes.levels} aria-label={`Best levels of ${token}`}>
      <caption>{token}</caption>
      <thead>
        <tr>
          <th scope="col">Shares</th>
          <th scope="col">Bid</th>
          <th scope="col">Ask</th>
          <th scope="col">Shares</th>
        </tr>
      </thead>
      <tbody>
        {PLACES.map((place) => (
          <tr key={place}>
            <Size level={bids[place]} largest={largest} side="bid" />
            <td className="up">{priceOf(bids[place])}</td>
            <td className="down">{priceOf(asks[place])}</td>
            <Size level={asks[place]} largest={largest} side="ask" />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Size({
  level,
  largest,
  side,
}: {
  level: Level | undefined;
  largest: number;
  side: 'bid' | 'ask';
}): ReactNode {
  const share = level === undefined ? 0 : Math.round((level[1] / largest) * 100);
  const [way, colour] = side === 'bid' ? ['left', 'var(--up-soft)'] : ['right', 'var(--down-soft)'];
  return (
    <td style={{ background: `linear-gradient(to ${way}, ${colour} ${share}%, transparent ${share}%)` }}>
      {level === undefined ? '' : shares(level[1])}
    </td>
  );
}

function priceOf(level: Level | undefined): string {
  return level === undefined ? '' : cents(level[0]);
}

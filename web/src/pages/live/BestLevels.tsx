import type { ReactNode } from 'react';
import type { CardBook } from '../../live/cardFigures.ts';
import type { Level } from '../../live/messages.ts';
import { cents, sizeFormat } from '../../ui/format.ts';
import classes from './BestLevels.module.css';

const PLACES = [0, 1, 2] as const;

/** The three best levels of each side of both tokens, bids beside asks; bars show sizes. */
export function BestLevels({ book }: { book: CardBook }): ReactNode {
  const { yesBids, yesAsks, noBids, noAsks } = book;
  const sizes = [yesBids, yesAsks, noBids, noAsks].flat().map(([, size]) => size);
  const [largest, format] = [Math.max(1, ...sizes), sizeFormat(sizes)];
  return (
    <div className={classes.books}>
      <Levels token="Up" bids={yesBids} asks={yesAsks} largest={largest} format={format} />
      <Levels token="Down" bids={noBids} asks={noAsks} largest={largest} format={format} />
    </div>
  );
}

function Levels({
  token,
  bids,
  asks,
  largest,
  format,
}: {
  token: string;
  bids: readonly Level[];
  asks: readonly Level[];
  largest: number;
  format: (size: number) => string;
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
            <Size level={bids[place]} largest={largest} format={format} side="bid" />
            <td className="up">{priceOf(bids[place])}</td>
            <td className="down">{priceOf(asks[place])}</td>
            <Size level={asks[place]} largest={largest} format={format} side="ask" />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Size({
  level,
  largest,
  format,
  side,
}: {
  level: Level | undefined;
  largest: number;
  format: (size: number) => string;
  side: 'bid' | 'ask';
}): ReactNode {
  const share = level === undefined ? 0 : Math.round((level[1] / largest) * 100);
  const [way, colour] = side === 'bid' ? ['left', 'var(--up-soft)'] : ['right', 'var(--down-soft)'];
  return (
    <td style={{ background: `linear-gradient(to ${way}, ${colour} ${share}%, transparent ${share}%)` }}>
      {level === undefined ? '' : format(level[1])}
    </td>
  );
}

function priceOf(level: Level | undefined): string {
  return level === undefined ? '' : cents(level[0]);
}

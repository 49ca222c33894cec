import type { ReactNode } from 'react';
import { cumulative } from '../charts/cumulative.ts';
import { cents, shares } from './format.ts';
import classes from './MirroredLadder.module.css';

type Level = readonly [price: number, size: number];

/** How a ladder prints its prices and sizes. */
export interface LadderUnits {
  /** Heading of the sizes. */
  readonly sizes: string;
  readonly price: (price: number) => string;
  readonly size: (size: number) => string;
  /** Sum of the sizes up to a level; by default as a size. */
  readonly total?: (sum: number) => string;
}

const SHARES: LadderUnits = { sizes: 'Shares', price: cents, size: shares };

interface Row {
  readonly price: number;
  readonly size: number;
  /** Size of this and all better levels. */
  readonly sum: number;
}

interface MirroredLadderProps {
  readonly title: string;
  /** Best first. */
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly rows?: number;
  readonly units?: LadderUnits;
  /** Heading and price of the opposite token, if the book has one: a bid for Up at 54¢ sells Down at 46¢. */
  readonly opposite?: { readonly name: string; readonly price: (price: number) => string };
}

/** One book: bids to the left and asks to the right of the middle, best ones first; bars show sizes. */
export function MirroredLadder(props: MirroredLadderProps): ReactNode {
  const { title, bids, asks, rows = 10, units = SHARES, opposite } = props;
  const total = units.total ?? units.size;
  const [left, right] = [rowsOf(bids, rows), rowsOf(asks, rows)];
  const largest = Math.max(0, ...[...left, ...right].map((row) => row?.size ?? 0)) || 1;
  return (
    <div className={classes.frame}>
      <table className={classes.ladder}>
        <caption>{title}</caption>
        <thead>
          <tr>
            {opposite && (
              <th scope="col" className={classes.opposite}>
                {opposite.name} ask
              </th>
            )}
            <th scope="col">Total</th>
            <th scope="col">{units.sizes}</th>
            <th scope="col">Bid</th>
            <th scope="col" className={classes.best}>
              Ask
            </th>
            <th scope="col">{units.sizes}</th>
            <th scope="col">Total</th>
            {opposite && (
              <th scope="col" className={classes.opposite}>
                {opposite.name} bid
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: rows }, (_, index) => {
            const [bid, ask] = [left[index] ?? null, right[index] ?? null];
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: a row is a rank, which never moves
              <tr key={index}>
                {opposite && <td className={classes.opposite}>{bid && opposite.price(bid.price)}</td>}
                <td className={classes.total}>{bid && total(bid.sum)}</td>
                <td style={barOf(bid, { largest, side: 'bid' })}>{bid && units.size(bid.size)}</td>
                <td className="up">{bid && units.price(bid.price)}</td>
                <td className={`${classes.best} down`}>{ask && units.price(ask.price)}</td>
                <td style={barOf(ask, { largest, side: 'ask' })}>{ask && units.size(ask.size)}</td>
                <td className={classes.total}>{ask && total(ask.sum)}</td>
                {opposite && <td className={classes.opposite}>{ask && opposite.price(ask.price)}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function rowsOf(levels: readonly Level[], rows: number): Row[] {
  const shown = levels.slice(0, rows);
  return cumulative(shown).map(([price, sum], index) => ({ price, sum, size: shown[index]?.[1] ?? 0 }));
}

/** Bars grow from the middle outwards. */
function barOf(row: Row | null, { largest, side }: { largest: number; side: 'bid' | 'ask' }) {
  if (row === null) return {};
  const share = Math.round((row.size / largest) * 100);
  const [way, colour] = side === 'bid' ? ['left', 'var(--up-soft)'] : ['right', 'var(--down-soft)'];
  return { background: `linear-gradient(to ${way}, ${colour} ${share}%, transparent ${share}%)` };
}

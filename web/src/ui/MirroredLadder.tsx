import type { ReactNode } from 'react';
import { cumulative } from '../charts/cumulative.ts';
import { cents, sizeFormat } from './format.ts';
import classes from './MirroredLadder.module.css';

type Level = readonly [price: number, size: number];

/** How a ladder prints its prices and sizes. */
export interface LadderUnits {
  /** Heading of the sizes. */
  readonly sizes: string;
  readonly price: (price: number) => string;
  /** Of sizes and their sums; without it each column has the format that fits its numbers. */
  readonly size?: (size: number) => string;
}

const SHARES: LadderUnits = { sizes: 'Shares', price: cents };
/** Longer prices need the room of the totals in a narrow frame. */
const SHORT_PRICE = 6;

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
  /** Shown in place of a side without levels. */
  readonly reasons?: { readonly bids: string; readonly asks: string };
}

const REASONS = { bids: 'no bids', asks: 'no asks' };

/** One book: bids to the left and asks to the right of the middle, best ones first; bars show sizes. */
export function MirroredLadder(props: MirroredLadderProps): ReactNode {
  const { title, bids, asks, rows = 10, units = SHARES, opposite, reasons = REASONS } = props;
  const [left, right] = [rowsOf(bids, rows), rowsOf(asks, rows)];
  const both = [...left, ...right];
  const largest = Math.max(0, ...both.map((row) => row.size)) || 1;
  const size = units.size ?? sizeFormat(both.map((row) => row.size));
  const total = units.size ?? sizeFormat(both.map((row) => row.sum));
  const isLong = both.some((row) => units.price(row.price).length > SHORT_PRICE);
  return (
    <div className={classes.frame}>
      <table className={`${classes.ladder} ${isLong ? classes.long : ''}`}>
        <caption>{title}</caption>
        <thead>
          <tr>
            {opposite && (
              <th scope="col" className={classes.opposite}>
                {opposite.name} ask
              </th>
            )}
            <th scope="col" className={classes.total}>
              Total
            </th>
            <th scope="col">{units.sizes}</th>
            <th scope="col" className={classes.price}>
              Bid
            </th>
            <th scope="col" className={`${classes.price} ${classes.best}`}>
              Ask
            </th>
            <th scope="col">{units.sizes}</th>
            <th scope="col" className={classes.total}>
              Total
            </th>
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
                <td style={barOf(bid, { largest, side: 'bid' })}>{bid && size(bid.size)}</td>
                <td className="up">
                  {bid && units.price(bid.price)}
                  {index === 0 && bid === null && <span className={classes.reason}>{reasons.bids}</span>}
                </td>
                <td className={`${classes.best} down`}>
                  {ask && units.price(ask.price)}
                  {index === 0 && ask === null && <span className={classes.reason}>{reasons.asks}</span>}
                </td>
                <td style={barOf(ask, { largest, side: 'ask' })}>{ask && size(ask.size)}</td>
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

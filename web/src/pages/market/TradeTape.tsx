import { type ReactNode, useMemo } from 'react';
import type { Trade } from '../../api/schema.ts';
import { clockText, zoneName } from '../../charts/timeZone.ts';
import { useTimeZone } from '../../charts/useTimeZone.ts';
import { cents, sizeFormat } from '../../ui/format.ts';
import { Empty, Loading } from '../../ui/states.tsx';
import classes from './TradeTape.module.css';
import { expectsUp, priceOfUp, sideText } from './tradePrice.ts';

const ROWS = 60;

/** The newest trades at a time, newest first. A click shows the book of that time. */
export function TradeTape({
  trades,
  timeMs,
  onPick,
}: {
  trades: readonly Trade[] | undefined;
  timeMs: number;
  onPick: (timeMs: number) => void;
}): ReactNode {
  const [zone] = useTimeZone();
  // Trades do not change; only how many of them had happened does.
  const times = useMemo(() => (trades ?? []).map(({ ts }) => Date.parse(ts)), [trades]);
  if (trades === undefined) return <Loading rows={3} />;
  if (trades.length === 0)
    return <Empty title="No trades">Nobody has traded this market while it was recorded.</Empty>;
  const passed = times.findLastIndex((time) => time <= timeMs) + 1;
  const shown = trades.slice(Math.max(passed - ROWS, 0), passed).toReversed();
  const size = sizeFormat(shown.map((trade) => trade.size));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region must be reachable by keyboard
    <section className={classes.frame} aria-label="Tape" tabIndex={0}>
      <table className={classes.tape}>
        <caption>
          Trades, {passed.toLocaleString('en')} of {trades.length.toLocaleString('en')}
        </caption>
        <thead>
          <tr>
            <th scope="col">{zoneName(zone, timeMs)}</th>
            <th scope="col">Taker</th>
            <th scope="col">Up at</th>
            <th scope="col">Shares</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((trade) => (
            <tr key={trade.trade_id} className={expectsUp(trade) ? classes.up : classes.down}>
              <td>
                <button type="button" onClick={() => onPick(Date.parse(trade.ts))}>
                  {clockText(Date.parse(trade.ts), zone)}
                </button>
              </td>
              <td>{sideText(trade)}</td>
              <td>{cents(priceOfUp(trade))}</td>
              <td>{size(trade.size)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {passed === 0 && <p className={classes.none}>No trade until this time.</p>}
    </section>
  );
}

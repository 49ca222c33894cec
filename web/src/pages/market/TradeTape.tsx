import { type ReactNode, useMemo } from 'react';
import { clockText, type TimeZone, zoneName } from '../../charts/timeZone.ts';
import { useTimeZone } from '../../charts/useTimeZone.ts';
import { cents, sizeFormat } from '../../ui/format.ts';
import { RequestFailure } from '../../ui/RequestFailure.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import type { Tape } from './data.ts';
import classes from './TradeTape.module.css';
import { expectsUp, priceOfUp, sideText } from './tradePrice.ts';

const ROWS = 60;

/** The newest trades at a time, newest first. A click shows the book of that time. */
export function TradeTape({
  tape: { trades, isCut, request },
  timeMs,
  onPick,
}: {
  tape: Tape;
  timeMs: number;
  onPick: (timeMs: number) => void;
}): ReactNode {
  const [zone] = useTimeZone();
  // Trades do not change; only how many of them had happened does.
  const times = useMemo(() => (trades ?? []).map(({ ts }) => Date.parse(ts)), [trades]);
  if (request.isPending) return <Loading rows={3} />;
  if (trades === undefined) return <RequestFailure of={request} />;
  if (trades.length === 0) {
    return (
      <>
        <RequestFailure of={request} />
        <Empty title="No trades">Nobody has traded this market while it was recorded.</Empty>
      </>
    );
  }
  const passed = times.findLastIndex((time) => time <= timeMs) + 1;
  const zoneAt = zoneName(zone, timeMs);
  const count = trades.length.toLocaleString('en');
  const shown = trades.slice(Math.max(passed - ROWS, 0), passed).toReversed();
  const size = sizeFormat(shown.map((trade) => trade.size));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region must be reachable by keyboard
    <section className={classes.frame} aria-label="Tape" tabIndex={0}>
      <RequestFailure of={request} />
      <table className={classes.tape}>
        <caption>
          Trades, {passed.toLocaleString('en')} of {isCut && 'the newest '}
          {count}
        </caption>
        <thead>
          <tr>
            <th scope="col">{zoneAt}</th>
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
                  {timeText(Date.parse(trade.ts), zone, zoneAt)}
                </button>
              </td>
              <td>{sideText(trade)}</td>
              <td>{cents(priceOfUp(trade))}</td>
              <td>{size(trade.size)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {passed === 0 && (
        <p className={classes.none}>
          {isCut
            ? `The page has the newest ${count} alone: the file of every trade has those before.`
            : 'No trade until this time.'}
        </p>
      )}
    </section>
  );
}

/** A time on the clock of the table's head; one of before the clocks changed names its own. */
function timeText(timeMs: number, zone: TimeZone, head: string): string {
  const own = zoneName(zone, timeMs);
  return own === head ? clockText(timeMs, zone) : `${clockText(timeMs, zone)} ${own}`;
}

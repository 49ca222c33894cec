/** Passes the outcomes of markets from thread to thread unread: the service's thread would block while it copies them. */
import { deserialize, serialize } from 'node:v8';
import { printJson } from '../schema/moneyJson.ts';
import { backtestResult, type ReplayedMarket } from './report.ts';
import type { ReportTask } from './task.ts';

/** In shared memory, which is passed on without a copy. */
export function packOutcome(outcome: ReplayedMarket): Uint8Array {
  return shared(serialize(outcome));
}

/** The result of a backtest as JSON, in shared memory. */
export function reportBytes({ outcomes, spec, receipt }: ReportTask): Uint8Array {
  const markets = outcomes.map((packed): ReplayedMarket => deserialize(Buffer.from(packed)));
  return shared(Buffer.from(printJson(backtestResult(markets, { spec, receipt }))));
}

function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

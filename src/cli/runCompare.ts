import { readRun } from '../report/comparedRun.ts';
import { type Comparison, compareRuns } from '../report/comparison.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import { interruptible } from './failure.ts';
import { formatTable } from './table.ts';

export interface CompareOptions {
  readonly json?: boolean;
  readonly force?: boolean;
}

/** Prints a comparison. A refusal is one line on standard error and exit status 1. */
export async function runCompare(
  [first, second]: readonly [string, string],
  { json, force }: CompareOptions,
): Promise<void> {
  await interruptible(async () => {
    const [a, b] = await Promise.all([readRun(first), readRun(second)]);
    if (a.dataHash !== b.dataHash && !force) {
      throw new InvalidInputError(
        `the two read different data (${a.dataHash.slice(0, 16)} and ${b.dataHash.slice(0, 16)}); use --force to compare them`,
      );
    }
    const comparison = compareRuns(a, b);
    console.log(json ? JSON.stringify(comparison) : printComparison(comparison));
  });
}

function printComparison({ a, b, difference, test, ...comparison }: Comparison): string {
  const sides = formatTable(
    ['', 'A', 'B', 'A - B'],
    [
      ['name', a.name, b.name, ''],
      ['data', a.data_hash.slice(0, 16), b.data_hash.slice(0, 16), ''],
      ['code', a.code_version, b.code_version, ''],
      ['markets traded', String(a.markets_traded), String(b.markets_traded), ''],
      ['P&L, USD', a.total_pnl.toFixed(2), b.total_pnl.toFixed(2), difference.total.toFixed(2)],
    ],
  );
  const interval = difference.total_interval?.map((bound) => bound.toFixed(2)).join(' to ') ?? null;
  const rows: [string, string | null][] = [
    ['markets compared', `${comparison.pairs}, traded by both: ${comparison.traded_by_both}`],
    ['left out', `${comparison.left_out}, because one of the two did not replay them`],
    ['difference, 95 %', interval && `${interval} USD, paired block bootstrap`],
    [
      'difference a market',
      difference.per_market === null ? null : `${difference.per_market.toFixed(4)} USD`,
    ],
    ['A earned more in', percent(difference.better_share)],
    ['test', test?.name ?? null],
    ['t', test && `${test.t.toFixed(3)} with ${test.freedom} degrees of freedom`],
    ['p', test?.p.toPrecision(3) ?? null],
  ];
  return [sides, formatTable(['COMPARISON', ''], rows), comparison.conclusion.join('\n')].join('\n\n');
}

function percent(share: number | null): string | null {
  return share === null ? null : `${(100 * share).toFixed(1)} % of the markets`;
}

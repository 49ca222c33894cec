/**
 * Stated against actual results of the model kinds of signals, on simulated markets with known edges: none, a planted
 * one, late quotes, and a late price of this service. Then the sweep judge's verdict on strategies without an edge, and
 * how often its intervals contain the true value.
 */
import { type KnownMarket, type KnownRow, rowsOfKnownMarket } from '../test/support/knownEdge.ts';
import { fairMarketPasses, shuffledCoverage, shuffledPasses } from '../test/support/negativeControls.ts';
import type { Figure } from './figure.ts';

/** Without an edge there are few rows, so more windows are needed. */
const WINDOWS = { fair: 2_880, else: 864 };

const CASES: Readonly<Record<string, Partial<KnownMarket>>> = {
  'no edge': {},
  'planted 0.06': { plantedEdge: 0.06 },
  'no edge, quotes 5 s late': { quotesLateSeconds: 5 },
  'no edge, our price 1 s late': { priceLateSeconds: 1 },
};

export async function run(): Promise<Figure[]> {
  const none = { plantedEdge: 0, quotesLateSeconds: 0, priceLateSeconds: 0 };
  const detected = Object.entries(CASES).flatMap(([name, changes]) => {
    const windows = Object.keys(changes).length === 0 ? WINDOWS.fair : WINDOWS.else;
    const rows = rowsOfKnownMarket({ ...none, seed: name, windows, ...changes });
    return figuresOf(name, rows, windows);
  });
  return [...detected, ...controlFigures()];
}

function controlFigures(): Figure[] {
  const shares = (title: string, rates: Readonly<Record<string, number>>, goal: string): Figure[] =>
    Object.entries(rates).map(([name, rate]) => ({
      ...{ name: `${title}, ${name}`, value: 100 * rate, unit: '%', goal },
    }));
  const { own, shuffled } = shuffledPasses({ markets: 300, seeds: 200 });
  return [
    ...[40, 100, 300].flatMap((markets) =>
      shares(`worthless on ${markets} markets`, fairMarketPasses({ markets, seeds: 100 }), '<= 5'),
    ),
    ...shares('sweeps that pass', { 'outcomes shuffled': shuffled }, '<= 5'),
    { name: 'sweeps that pass, the outcomes their own', value: 100 * own, unit: '%' },
    ...[40, 150, 400].flatMap((markets) =>
      shares(`intervals over ${markets} markets`, shuffledCoverage({ markets, seeds: 2_000 }), '93-97'),
    ),
  ];
}

function figuresOf(name: string, rows: readonly KnownRow[], windows: number): Figure[] {
  const percent = (pick: (row: KnownRow) => number) => 100 * mean(rows.map(pick));
  const realized = rows.map((row) => row.realized);
  const deviation = Math.sqrt(mean(realized.map((value) => value ** 2)) - mean(realized) ** 2);
  return [
    { name: `${name}: rows a hundred windows`, value: (100 * rows.length) / windows, unit: 'rows' },
    { name: '  stated by the model', value: percent((row) => row.stated), unit: 'cents a share' },
    { name: '  by the true odds', value: percent((row) => row.known), unit: 'cents a share' },
    { name: '  realised', value: percent((row) => row.realized), unit: 'cents a share' },
    {
      name: '  95 % interval of that, to each side',
      value: (196 * deviation) / Math.sqrt(rows.length),
      unit: 'cents a share',
    },
  ];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

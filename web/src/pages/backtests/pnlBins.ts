/** Trades whose P&L is in [from, to); the last bin includes its end. USD. */
interface PnlBin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

const BINS = 24;
const STEPS = [1, 2, 5, 10] as const;

/** Equal bins over the P&L of closed trades, with an edge at zero so that no bin mixes gains and losses. */
export function pnlBins(values: readonly number[]): PnlBin[] {
  if (values.length === 0) return [];
  const low = values.reduce((a, b) => Math.min(a, b), 0);
  const high = values.reduce((a, b) => Math.max(a, b), 0);
  const width = roundWidth(Math.max(high - low, 0.01) / BINS);
  const first = Math.floor(low / width);
  const count = Math.max(1, Math.ceil(high / width) - first);
  const counts = Array.from({ length: count }, () => 0);
  for (const value of values) {
    const bin = Math.min(count - 1, Math.floor(value / width) - first);
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts.map((trades, bin) => ({
    ...{ from: (first + bin) * width, to: (first + bin + 1) * width, count: trades },
  }));
}

/** The next larger 1, 2 or 5 times a power of ten. */
function roundWidth(width: number): number {
  const power = 10 ** Math.floor(Math.log10(width));
  const step = STEPS.find((one) => one * power >= width) ?? 10;
  return step * power;
}

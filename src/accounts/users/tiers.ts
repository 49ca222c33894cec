import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { variableProblem } from '../../config.ts';
import { ConfigError } from '../../runtime/errors.ts';
import { TIERS, type Tier, tierLimitsShape } from '../../schema/tier.ts';

export type TierLimits = Readonly<z.infer<typeof tierLimitsShape>>;
export type TierTable = Readonly<Record<Tier, TierLimits>>;

/** The default tier table. */
export const DEFAULT_TIERS: TierTable = {
  free: {
    ...{ requests_per_second: 1, requests_per_minute: 60, market_data: true, history_days: 31 },
    ...{ backtest_jobs: 1, backtest_markets: 5, sweep_cells: 0, paper_strategies: 1, stream_connections: 1 },
    ...{ streamed_answers: 1, arb_ws: false, replay: false, export: false, webhooks: false },
  },
  pro: {
    ...{ requests_per_second: 10, requests_per_minute: 300, market_data: true, history_days: 31 },
    ...{ backtest_jobs: 2, backtest_markets: 20, sweep_cells: 100, paper_strategies: 3 },
    ...{ stream_connections: 2, streamed_answers: 2 },
    ...{ arb_ws: false, replay: false, export: true, webhooks: false },
  },
  plus: {
    ...{ requests_per_second: 25, requests_per_minute: 1000, market_data: true, history_days: 60 },
    ...{ backtest_jobs: 5, backtest_markets: 100, sweep_cells: 400, paper_strategies: 10 },
    ...{ stream_connections: 5, streamed_answers: 4 },
    ...{ arb_ws: true, replay: true, export: true, webhooks: false },
  },
  premium: {
    ...{ requests_per_second: 50, requests_per_minute: 2000, market_data: true, history_days: null },
    ...{ backtest_jobs: 6, backtest_markets: 500, sweep_cells: 2500, paper_strategies: 100 },
    ...{ stream_connections: 20, streamed_answers: 8 },
    ...{ arb_ws: true, replay: true, export: true, webhooks: true },
  },
};

/** Features that a route may require of a tier, each one row of the table. */
export const FEATURES = [
  ...(['market_data', 'backtest', 'sweep', 'paper', 'stream'] as const),
  ...(['arb_ws', 'replay', 'export', 'webhooks'] as const),
] as const;
export type Feature = (typeof FEATURES)[number];

/** Whether a tier may use a feature at all; the feature itself enforces its limits. */
export function permits(limits: TierLimits, feature: Feature): boolean {
  switch (feature) {
    case 'backtest':
      return limits.backtest_jobs > 0 && limits.backtest_markets > 0;
    case 'sweep':
      return limits.sweep_cells > 0;
    case 'paper':
      return limits.paper_strategies > 0;
    case 'stream':
      return limits.stream_connections > 0;
    default:
      return limits[feature];
  }
}

/** The end of a refusal that names the tiers with a feature, e.g. `plus and premium do`. */
export function tiersThatDo(table: TierTable, feature: Feature): string {
  const names = TIERS.filter((tier) => permits(table[tier], feature));
  if (names.length === 0) return 'no tier does';
  return `${new Intl.ListFormat('en-GB').format(names)} ${names.length === 1 ? 'does' : 'do'}`;
}

const overrideSchema = z.strictObject(
  Object.fromEntries(TIERS.map((tier) => [tier, tierLimitsShape.partial().optional()])) as Record<
    Tier,
    z.ZodOptional<ReturnType<typeof tierLimitsShape.partial>>
  >,
);

/**
 * The tier table of this installation.
 * @param path A JSON file that overrides any part of the default table, e.g. `{"free": {"requests_per_minute": 120}}`;
 * null for the default.
 * @throws {ConfigError} If the file cannot be read, is not JSON, or contains anything that the table does not have.
 */
export function loadTiers(path: string | null): TierTable {
  if (path === null) return DEFAULT_TIERS;
  const parsed = overrideSchema.safeParse(readJson(path));
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      (issue) => `${issue.path.join('.') || 'file'}: ${issue.message}`,
    );
    throw new ConfigError(problems.map((problem) => tiersProblem(path, `does not fit: ${problem}`)));
  }
  const merged = TIERS.map((tier) => [tier, { ...DEFAULT_TIERS[tier], ...parsed.data[tier] }]);
  return Object.fromEntries(merged) as Record<Tier, TierLimits>;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new ConfigError(tiersProblem(path, `cannot be read as JSON: ${(cause as Error).message}`), {
      cause,
    });
  }
}

function tiersProblem(path: string, rule: string): string {
  return variableProblem('UNDERROUND_TIERS_FILE', path, `${rule} (docs/CONFIGURATION.md has the tier table)`);
}

/** Strategies and replay parameters as request bodies contain them and answers repeat them. */
import { z } from 'zod';
import {
  DIRECTIONS,
  FILL_MODES,
  QUEUE_MODELS,
  type ReplayParams,
  STRATEGY_SIDES,
  type Strategy,
} from '../strategy.ts';
import {
  defaultMember,
  type JsonType,
  jsonInteger,
  jsonLiteral,
  type Members,
  NestedProblems,
  nullable,
  omittedMember,
  requiredMember,
} from './body.ts';
import { jsonNumber, jsonObject, jsonUnion } from './bodyParts.ts';
import { conditionShape, entryShape, entryType, exitType, windowsProblem } from './conditions.ts';
import { stressShape, stressType } from './stress.ts';
import { Invalid, literal } from './types.ts';

const LOOKBACK_SECONDS_MAX = 3_600;
const TRADES_PER_MARKET_MAX = 100;
/** The longest window is a day. */
const MINUTES_BEFORE_MAX = 1_440;
const LATENCY_MS_MAX = 60_000;

export const SIZE_USD = { min: 1, max: 10_000, default: 10 } as const;
export const DEFAULT_PARAMS: ReplayParams = {
  fill_mode: 'walk_book',
  latency_ms: 50,
  max_fill_price: 0.985,
  max_slippage: 0.02,
};

const side = requiredMember(jsonLiteral(literal(STRATEGY_SIDES)), 'Which token is bought');

const exits = (description: string) => defaultMember(exitType, [], description);

const OFFSET_MAX = 0.5;
const TIMEOUT_SECONDS_MAX = 86_400;
const TIMEOUT_SECONDS = 30;

const execution = omittedMember(
  jsonObject({
    entry: requiredMember(jsonLiteral(literal(['maker'] as const)), 'Purchases rest in the book, post-only'),
    offset: defaultMember(
      jsonNumber({ ge: -OFFSET_MAX, le: OFFSET_MAX }),
      0,
      'Limit price minus the best bid of the decision, USDC per share',
    ),
    timeout_s: defaultMember(
      jsonNumber({ gt: 0, le: TIMEOUT_SECONDS_MAX }),
      TIMEOUT_SECONDS,
      'Seconds after which the unfilled rest is cancelled',
    ),
    queue_model: defaultMember(
      jsonLiteral(literal(QUEUE_MODELS)),
      'pessimistic',
      'Where in the queue orders were cancelled that no trade explains: ahead of ours, in proportion, or behind',
    ),
  }),
  'How purchases are made; without it they take',
);

/** Members of each type, besides `type` itself. */
const VARIANTS = {
  threshold_entry: {
    threshold: requiredMember(jsonNumber({ ge: 0, le: 1 }), 'Best ask of the token, USDC per share'),
    direction: requiredMember(jsonLiteral(literal(DIRECTIONS)), 'The side of the threshold on which it buys'),
    side,
    execution,
  },
  mean_reversion: {
    lookback: requiredMember(jsonInteger({ ge: 2, le: LOOKBACK_SECONDS_MAX }), 'Seconds of YES mids'),
    z_threshold: requiredMember(jsonNumber({ gt: 0, le: 100 }), 'Standard deviations from their mean'),
    execution,
  },
  time_before_resolution: {
    minutes_before: requiredMember(jsonNumber({ gt: 0, le: MINUTES_BEFORE_MAX }), 'Minutes before the end'),
    side,
    execution,
  },
  condition_based: {
    entry: requiredMember(entryType, 'Buys when all are true'),
    take_profit: exits('Sells when any is true'),
    stop_loss: exits('Sells when any is true; evaluated before take_profit'),
    side,
    max_trades_per_market: defaultMember(
      jsonInteger({ ge: 1, le: TRADES_PER_MARKET_MAX }),
      1,
      'Maximum positions per market, one at a time',
    ),
    execution,
  },
} as const satisfies Record<Strategy['type'], Members>;

const anyStrategy = jsonUnion('type', VARIANTS) as JsonType<Strategy>;

export const strategyType: JsonType<Strategy> = {
  schema: anyStrategy.schema,
  parse(value) {
    const parsed = anyStrategy.parse(value);
    if (parsed instanceof Invalid || parsed instanceof NestedProblems) return parsed;
    const problem = parsed.type === 'condition_based' ? windowsProblem(parsed) : null;
    return problem === null
      ? parsed
      : new NestedProblems([{ ...problem, loc: [parsed.type, ...problem.loc] }]);
  },
};

const paramsMembers = jsonObject({
  fill_mode: defaultMember(
    jsonLiteral(literal(FILL_MODES)),
    DEFAULT_PARAMS.fill_mode,
    'Walk the recorded book, or fill at the mid for comparison',
  ),
  latency_ms: defaultMember(
    jsonInteger({ ge: 0, le: LATENCY_MS_MAX }),
    DEFAULT_PARAMS.latency_ms,
    'Time from the decision to the venue, before the venue’s own delay',
  ),
  max_fill_price: defaultMember(
    jsonNumber({ gt: 0, le: 1 }),
    DEFAULT_PARAMS.max_fill_price,
    'Highest price to buy at, USDC per share',
  ),
  max_slippage: defaultMember(
    nullable(jsonNumber({ ge: 0, le: 1 })),
    DEFAULT_PARAMS.max_slippage,
    'An order fills at most this far from its decision price (best ask, or bid of a sale), USDC per share; null: no limit',
  ),
  stress: omittedMember(
    stressType,
    'Adds the same figures for outcomes that some markets did not have: annulled, or resolved late',
  ),
});

export const paramsType = paramsMembers as JsonType<ReplayParams>;

export const sizeUsdType = jsonNumber({ ge: SIZE_USD.min, le: SIZE_USD.max });

const executionShape = z
  .strictObject({
    entry: z.literal('maker'),
    offset: z.number(),
    timeout_s: z.number(),
    queue_model: z.enum(QUEUE_MODELS),
  })
  .optional();

/** A strategy as answers show it: all its members, including defaults. */
export const strategyShape = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('threshold_entry'),
    threshold: z.number(),
    direction: z.enum(DIRECTIONS),
    side: z.enum(STRATEGY_SIDES),
    execution: executionShape,
  }),
  z.strictObject({
    type: z.literal('mean_reversion'),
    lookback: z.int(),
    z_threshold: z.number(),
    execution: executionShape,
  }),
  z.strictObject({
    type: z.literal('time_before_resolution'),
    minutes_before: z.number(),
    side: z.enum(STRATEGY_SIDES),
    execution: executionShape,
  }),
  z.strictObject({
    type: z.literal('condition_based'),
    entry: entryShape,
    take_profit: z.array(conditionShape),
    stop_loss: z.array(conditionShape),
    side: z.enum(STRATEGY_SIDES),
    max_trades_per_market: z.int(),
    execution: executionShape,
  }),
]);

export const paramsShape = z.strictObject({
  fill_mode: z.enum(FILL_MODES),
  latency_ms: z.int(),
  max_fill_price: z.number(),
  max_slippage: z.number().nullable(),
  stress: stressShape.optional(),
});

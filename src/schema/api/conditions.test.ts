import { describe, expect, test } from 'vitest';
import { readBody, requiredMember } from './body.ts';
import { paramsType, strategyShape, strategyType } from './strategies.ts';
import { backtestUniverseShape, backtestUniverseType, universeType } from './universe.ts';

const PRICE = { metric: 'token_price', operator: 'below', value: 0.4 };
const VOLATILITY = { metric: 'token_volatility', operator: '>=', value: 0.01, window_s: 30 };
const BODY = { strategy: requiredMember(strategyType, ''), params: requiredMember(paramsType, '') };

const withEntry = (entry: readonly unknown[], more = {}) => ({
  ...{ type: 'condition_based', entry, take_profit: [], stop_loss: [], side: 'buy_yes' },
  ...{ max_trades_per_market: 1, ...more },
});
const problemsOf = (strategy: unknown) =>
  readBody({ strategy: BODY.strategy }, { strategy }).problems.map(({ type, loc, msg }) => ({
    ...{ type, msg, loc: loc.slice(2).join('.') },
  }));

describe('conditions', () => {
  test.each([
    ['without new members', [PRICE]],
    ['of a token', [{ ...PRICE, token: 'no' }]],
    ['over a window', [VOLATILITY]],
    [
      'in a group',
      [
        PRICE,
        {
          any: [
            PRICE,
            { metric: 'token_volatility', operator: '>=', value: 0.01, token: 'own', window_s: 30 },
          ],
        },
      ],
    ],
    ['with >=', [{ ...PRICE, operator: '>=' }]],
    ['with <=', [{ ...PRICE, operator: '<=' }]],
    ['with ==', [{ ...PRICE, operator: '==' }]],
    ['with !=', [{ ...PRICE, operator: '!=' }]],
  ])('are repeated as they were given: %s', (_, entry) => {
    const strategy = withEntry(entry);
    const { values, problems } = readBody({ strategy: BODY.strategy }, { strategy });
    expect(problems).toEqual([]);
    expect(JSON.stringify(values.strategy)).toBe(JSON.stringify(strategy));
    expect(JSON.stringify(strategyShape.parse(values.strategy))).toBe(JSON.stringify(strategy));
  });

  const required = 'Field required';
  const refused = 'Extra inputs are not permitted';
  test.each([
    [[{ ...PRICE, window_s: 30 }], 'extra_forbidden', 'condition_based.entry.0.window_s', refused],
    [[{ ...VOLATILITY, window_s: undefined }], 'int_type', 'condition_based.entry.0.window_s', null],
    [
      [{ metric: 'token_volatility', operator: '>=', value: 0 }],
      'missing',
      'condition_based.entry.0.window_s',
      required,
    ],
    [
      [{ ...VOLATILITY, metric: 'underlying_volatility' }],
      ...(['greater_than_equal', 'condition_based.entry.0.window_s'] as const),
      'Input should be greater than or equal to 60',
    ],
    [
      [{ ...VOLATILITY, window_s: 3_601 }],
      ...(['less_than_equal', 'condition_based.entry.0.window_s'] as const),
      'Input should be less than or equal to 3600',
    ],
    [
      [{ ...PRICE, token: 'up' }],
      'literal_error',
      'condition_based.entry.0.token',
      "Input should be 'own', 'yes' or 'no'",
    ],
    [
      [PRICE, { any: [PRICE, { ...PRICE, value: 'x' }] }],
      ...(['float_parsing', 'condition_based.entry.1.any.1.value', null] as const),
    ],
    [
      [{ any: [] }],
      ...(['too_short', 'condition_based.entry.0.any'] as const),
      'List should have at least 1 item after validation, not 0',
    ],
    [
      [{ any: Array(11).fill(PRICE) }],
      ...(['too_long', 'condition_based.entry.0.any'] as const),
      'List should have at most 10 items after validation, not 11',
    ],
    [[{ any: [PRICE], value: 1 }], 'extra_forbidden', 'condition_based.entry.0.value', refused],
    [[{ any: [{ any: [PRICE] }] }], 'missing', 'condition_based.entry.0.any.0.metric', required],
    [
      Array.from({ length: 9 }, (_, n) => ({ ...VOLATILITY, window_s: 10 + n })),
      ...(['value_error', 'condition_based.entry'] as const),
      'Value error, the conditions may read at most 8 different volatilities',
    ],
  ])('are refused with their place: %j', (entry, type, loc, msg) => {
    const [problem] = problemsOf(withEntry(entry));
    expect(problem).toMatchObject({ type, loc, ...(msg === null ? {} : { msg }) });
  });

  test('are not grouped in an exit', () => {
    expect(problemsOf(withEntry([PRICE], { take_profit: [{ any: [PRICE] }] }))[0]).toEqual({
      ...{ type: 'missing', loc: 'condition_based.take_profit.0.metric', msg: required },
    });
  });
});

describe('a stress', () => {
  const stress = { void_share: 0.4, disputed_share: 0.6, dispute_delay_hours: 72 };
  const read = (given: unknown) => readBody({ params: BODY.params }, { params: { stress: given } });

  test('is repeated as it was given, and absent where none was', () => {
    expect(read(stress).values.params.stress).toEqual(stress);
    expect(readBody({ params: BODY.params }, { params: {} }).values.params).not.toHaveProperty('stress');
  });

  test.each([
    [{ ...stress, void_share: 0.5 }, 'value_error', ['stress', 'disputed_share']],
    [{ ...stress, void_share: -0.1 }, 'greater_than_equal', ['stress', 'void_share']],
    [{ void_share: 0, disputed_share: 0 }, 'missing', ['stress', 'dispute_delay_hours']],
    [null, 'model_attributes_type', ['stress']],
  ])('%j is refused', (given, type, loc) => {
    const [problem] = read(given).problems;
    expect(problem).toMatchObject({ type, loc: ['body', 'params', ...loc] });
  });
});

describe('a universe', () => {
  const members = { universe: requiredMember(backtestUniverseType(['BTC', 'ETH']), '') };
  const read = (universe: unknown) => readBody(members, { universe });
  const set = { tickers: ['BTC', 'ETH'], event_types: ['5m', '1h'] };

  test.each([[{ ticker: 'BTC', event_type: '5m' }], [set]])('%j is repeated as it was given', (universe) => {
    expect(read(universe).problems).toEqual([]);
    expect(read(universe).values.universe).toEqual(universe);
    expect(backtestUniverseShape.parse(universe)).toEqual(universe);
  });

  test.each([
    [{ ticker: 'BTC' }, 'missing', ['event_type']],
    [{ ...set, tickers: ['SOL'] }, 'literal_error', ['tickers', 0]],
    [{ ...set, event_types: [] }, 'too_short', ['event_types']],
    [{ ...set, event_types: ['5m', '9m'] }, 'literal_error', ['event_types', 1]],
    [{ tickers: ['BTC'] }, 'missing', ['event_types']],
    [{ ...set, ticker: 'BTC' }, 'extra_forbidden', ['ticker']],
  ])('%j is refused', (universe, type, loc) => {
    const [problem] = read(universe).problems;
    expect(problem).toMatchObject({ type, loc: ['body', 'universe', ...loc] });
  });

  test('of one series with an unknown window is a malformed request', () => {
    const refusal = 'event_type must be one of 5m, 15m, 1h, 4h, daily_up_down';
    expect(read({ ticker: 'BTC', event_type: '9m' }).refusal).toBe(refusal);
  });

  test('of a paper strategy is one series', () => {
    const paper = { universe: requiredMember(universeType(['BTC']), '') };
    expect(readBody(paper, { universe: set }).problems.map(({ loc }) => loc.at(-1))).toContain('ticker');
  });
});

/** The check of a user's strategy. */
import { PERP_VENUES, UNDERLYING_SOURCES } from '../../schema/events.ts';
import { EVENT_TYPES, TICKERS } from '../../schema/market.ts';
import type { ParamSpecs, StrategyDefinition } from './definition.ts';
import { checkKeys, checkParamSpecs, isRecord } from './parameters.ts';

const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,63}$/;
const FIELDS = ['name', 'params', 'inputs', 'state', 'onEvent'];
const INPUTS = [
  ...['tickers', 'eventTypes', 'books', 'trades', 'priceSources', 'perpDepth', 'model', 'clockMs'],
] as const;
/** More events than this a second would be more than the venue sends. */
const CLOCK_MS_MIN = 10;

/**
 * Checks a definition and freezes it.
 * @returns The same strategy, with its types.
 * @throws {RangeError} Names the field that is wrong, and what it may be.
 */
export function defineStrategy<const P extends ParamSpecs, S = undefined>(
  definition: StrategyDefinition<P, S>,
): StrategyDefinition<P, S> {
  checkDefinition(definition);
  return Object.freeze({ ...definition });
}

/** @throws {RangeError} If it is not what `defineStrategy` accepts. */
export function checkDefinition(value: unknown): asserts value is StrategyDefinition {
  if (!isRecord(value)) throw new RangeError('a strategy is an object: { name, params, inputs, onEvent }');
  checkKeys('strategy', value, FIELDS);
  const { name, params, inputs, state, onEvent } = value;
  if (typeof name !== 'string' || !NAME.test(name))
    throw new RangeError('name: expected 1 to 64 letters, digits, "_", "." or "-"');
  checkParamSpecs(params);
  checkInputs(inputs);
  if (state !== undefined && typeof state !== 'function') throw new RangeError('state: expected a function');
  if (typeof onEvent !== 'function') throw new RangeError('onEvent: expected a function');
}

function checkInputs(inputs: unknown): void {
  if (!isRecord(inputs)) throw new RangeError('inputs: expected an object: { tickers, eventTypes }');
  checkKeys('inputs', inputs, INPUTS);
  const { tickers, eventTypes, priceSources = [], perpDepth = [], clockMs } = inputs;
  checkChoices('inputs.tickers', tickers, TICKERS, 1);
  checkChoices('inputs.eventTypes', eventTypes, EVENT_TYPES, 1);
  checkChoices('inputs.priceSources', priceSources, UNDERLYING_SOURCES, 0);
  checkChoices('inputs.perpDepth', perpDepth, PERP_VENUES, 0);
  for (const name of ['books', 'trades', 'model']) {
    const flag = inputs[name];
    if (flag !== undefined && typeof flag !== 'boolean')
      throw new RangeError(`inputs.${name}: expected true or false`);
  }
  if (clockMs === undefined) return;
  if (!Number.isInteger(clockMs) || (clockMs as number) < CLOCK_MS_MIN)
    throw new RangeError(`inputs.clockMs: expected a whole number of at least ${CLOCK_MS_MIN}`);
}

function checkChoices(at: string, list: unknown, choices: readonly string[], min: number): void {
  const isList = Array.isArray(list) && list.length >= min && new Set(list).size === list.length;
  if (!isList || !list.every((one) => choices.includes(one)))
    throw new RangeError(
      `${at}: expected ${min === 0 ? 'a list' : 'one or more'} of ${choices.join(', ')}, each once`,
    );
}

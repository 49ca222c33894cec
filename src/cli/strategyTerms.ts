/** Converts the options of commands that run a strategy file to the terms and parameters of its runs. */
import { readFileSync } from 'node:fs';
import type { LatencyModel, QueueModel } from '../core/desk/order.ts';
import { checkTerms } from '../core/run/checkTerms.ts';
import type { ParamSpecs } from '../core/run/definition.ts';
import { paramsOf } from '../core/run/parameters.ts';
import type { RunTerms } from '../core/run/terms.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import { systemReason } from '../runtime/systemReason.ts';
import type { Axis } from '../schema/backtest.ts';
import { QUEUE_MODELS } from '../schema/strategy.ts';
import type { ParamValue } from '../strategy/protocol.ts';

/** As commander passes them. */
export interface TermOptions {
  readonly seed?: string;
  readonly cash?: string;
  readonly latency?: string;
  readonly queue?: string;
  readonly maxExposure?: string;
  readonly redemptionDelay?: string;
}

const SEED = 1;
const LATENCY_MS = 50;
/** The estimate that fills a resting order last. */
const QUEUE: QueueModel = 'pessimistic';
/** A payout is redeemed about two hours after the outcome, if nobody disputes it. */
const REDEMPTION_DELAY_S = 7_200;
/** Points of a latency curve in milliseconds. */
const CURVE_MS = [0, 50, 150, 300, 600];
const SAMPLES_MAX = 1_000_000;

/** @throws {InvalidInputError} Names the option. */
export function termsOf(options: TermOptions): RunTerms {
  const terms: RunTerms = {
    seed: options.seed === undefined ? SEED : numberOf('--seed', options.seed),
    orderLatency: options.latency === undefined ? constant(LATENCY_MS) : latencyOf(options.latency),
    queueModel: (options.queue ?? QUEUE) as QueueModel,
    cashUsd: options.cash === undefined ? null : numberOf('--cash', options.cash),
    exposure: exposureOf(options.maxExposure),
    redemptionDelayMs:
      1_000 * numberOf('--redemption-delay', options.redemptionDelay ?? `${REDEMPTION_DELAY_S}`),
  };
  if (!QUEUE_MODELS.includes(terms.queueModel)) {
    throw new InvalidInputError(`--queue ${options.queue}: expected ${QUEUE_MODELS.join(', ')}`);
  }
  try {
    checkTerms(terms);
  } catch (cause) {
    throw new InvalidInputError((cause as Error).message, { cause });
  }
  return terms;
}

/** The points of `--latency-curve`: true for the usual ones. @throws {InvalidInputError} */
export function curveOf(points: string | true | undefined): readonly number[] {
  if (points === undefined) return [];
  if (points === true) return CURVE_MS;
  return points.split(',').map((point) => numberOf('--latency-curve', point));
}

export function constant(ms: number): LatencyModel {
  return { kind: 'constant', ms };
}

const LATENCY_FORMS = '50, uniform:20:80, log_normal:MEDIAN:SIGMA:MAX or file:PATH';

function latencyOf(text: string): LatencyModel {
  const [kind = '', ...rest] = text.split(':');
  const numbers = () => rest.map((part) => numberOf('--latency', part));
  if (rest.length === 0) return constant(numberOf('--latency', text));
  if (kind === 'uniform' && rest.length === 2) {
    const [minMs = 0, maxMs = 0] = numbers();
    return { kind, minMs, maxMs };
  }
  if (kind === 'log_normal' && rest.length === 3) {
    const [medianMs = 0, sigma = 0, maxMs = 0] = numbers();
    return { kind, medianMs, sigma, maxMs };
  }
  if (kind === 'file') return { kind: 'samples', ms: samplesIn(rest.join(':')) };
  throw new InvalidInputError(`--latency ${text}: expected ${LATENCY_FORMS}`);
}

function samplesIn(path: string): number[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new InvalidInputError(`--latency file:${path}: ${systemReason(cause)}`, { cause });
  }
  const words = text.split(/[\s,;]+/).filter((word) => word !== '');
  if (words.length > SAMPLES_MAX) throw new InvalidInputError(`${path}: more than ${SAMPLES_MAX} delays`);
  if (words.length === 0) throw new InvalidInputError(`${path}: no delay in it`);
  return words.map((word) => numberOf(path, word));
}

const CAPS = { market: 'perMarketUsd', ticker: 'perTickerUsd', total: 'totalUsd' } as const;

function exposureOf(text: string | undefined): RunTerms['exposure'] {
  const caps: Record<(typeof CAPS)[keyof typeof CAPS], number | null> = {
    perMarketUsd: null,
    perTickerUsd: null,
    totalUsd: null,
  };
  for (const part of text?.split(',') ?? []) {
    const [name = '', usd] = part.includes('=') ? part.split('=') : ['total', part];
    if (!(name in CAPS)) {
      throw new InvalidInputError(`--max-exposure ${text}: expected 500, or market=50,ticker=200,total=500`);
    }
    caps[CAPS[name as keyof typeof CAPS]] = numberOf('--max-exposure', usd ?? '');
  }
  return caps;
}

/** The parameters of a single run. @throws {InvalidInputError} */
export function givenParams(specs: ParamSpecs, given: readonly string[]): Record<string, ParamValue> {
  return checkedParams(specs, Object.fromEntries(given.map((text) => namedValue(specs, text))));
}

/** The axes of a sweep, and the values of the other parameters. @throws {InvalidInputError} */
export function sweptParams(
  specs: ParamSpecs,
  given: readonly string[],
): { axes: Axis[]; fixed: Record<string, ParamValue> } {
  const axes: Axis[] = [];
  const fixed: string[] = [];
  for (const text of given) {
    const [, param = '', range = ''] = /^([^=]+)=([^=]+:[^=]+:[^=]+)$/.exec(text) ?? [];
    if (param === '') {
      fixed.push(text);
      continue;
    }
    if (typeof specs[param]?.default !== 'number') {
      throw new InvalidInputError(`--param ${text}: ${unknown(specs, param) ?? 'only a number has a range'}`);
    }
    const [start = 0, end = 0, steps = 0] = range
      .split(':')
      .map((part) => numberOf(`--param ${param}`, part));
    if (!Number.isInteger(steps) || steps < 1 || steps > 100) {
      throw new InvalidInputError(`--param ${text}: expected FROM:TO:STEPS with 1 to 100 steps`);
    }
    axes.push({ param, start, end, steps });
  }
  return { axes, fixed: Object.fromEntries(fixed.map((text) => namedValue(specs, text))) };
}

/** @throws {InvalidInputError} If a value is not one that the strategy declares. */
export function checkedParams(
  specs: ParamSpecs,
  values: Readonly<Record<string, ParamValue>>,
): Record<string, ParamValue> {
  try {
    return { ...paramsOf(specs, values) };
  } catch (cause) {
    throw new InvalidInputError((cause as Error).message, { cause });
  }
}

function namedValue(specs: ParamSpecs, text: string): [string, ParamValue] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidInputError(`--param ${text}: expected NAME=VALUE`);
  const [name, value] = [text.slice(0, at), text.slice(at + 1)];
  const spec = specs[name];
  if (typeof spec?.default === 'number') return [name, numberOf(`--param ${name}`, value)];
  if (typeof spec?.default === 'boolean' && (value === 'true' || value === 'false')) {
    return [name, value === 'true'];
  }
  return [name, value];
}

function unknown(specs: ParamSpecs, name: string): string | null {
  if (name in specs) return null;
  return `the strategy has no parameter ${name}, only ${Object.keys(specs).join(', ') || 'none'}`;
}

/** @throws {InvalidInputError} If the text is not a finite number. */
export function numberOf(option: string, text: string): number {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(number))
    throw new InvalidInputError(`${option}: ${JSON.stringify(text)} is not a number`);
  return number;
}

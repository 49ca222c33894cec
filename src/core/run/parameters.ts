/** Parameters of a strategy: their declarations, and the values of one run. */
import type { ParamSpec, ParamSpecs, ParamValues } from './definition.ts';

type ParamValue = number | boolean | string;

const NAME = /^[a-z][a-zA-Z0-9_]{0,63}$/;

/** @throws {RangeError} Names the first faulty declaration. */
export function checkParamSpecs(specs: unknown): asserts specs is ParamSpecs {
  if (!isRecord(specs)) throw new RangeError('params: expected an object of declarations, {} for none');
  for (const [name, spec] of Object.entries(specs)) {
    const at = `params.${name}`;
    if (!NAME.test(name))
      throw new RangeError(`${at}: a name is letters, digits and _, and starts in lower case`);
    if (!isRecord(spec)) throw new RangeError(`${at}: expected an object with a default`);
    checkKeys(at, spec, ['default', ...(KEYS_OF[typeof spec.default as keyof typeof KEYS_OF] ?? [])]);
    checkBounds(at, spec as ParamSpec);
    checkValue(at, spec as ParamSpec, spec.default);
  }
}

const KEYS_OF = { number: ['min', 'max', 'whole'], boolean: [], string: ['choices'] } as const;

function checkBounds(at: string, spec: ParamSpec): void {
  if (typeof spec.default === 'string') {
    const { choices } = spec as Extract<ParamSpec, { choices: unknown }>;
    const isList =
      Array.isArray(choices) && choices.length > 0 && choices.every((one) => typeof one === 'string');
    if (!isList) throw new RangeError(`${at}.choices: expected a list of texts`);
    return;
  }
  const { min, max, whole } = spec as Extract<ParamSpec, { min?: number }>;
  for (const [name, bound] of [
    ['min', min],
    ['max', max],
  ] as const) {
    if (bound !== undefined && !Number.isFinite(bound))
      throw new RangeError(`${at}.${name}: expected a finite number`);
  }
  if (whole !== undefined && typeof whole !== 'boolean')
    throw new RangeError(`${at}.whole: expected true or false`);
  if (min !== undefined && max !== undefined && min > max) throw new RangeError(`${at}: min is above max`);
}

/**
 * The values of a run: the given ones, and defaults for the others.
 * @throws {RangeError} Names the parameter, its value and what it may be.
 */
export function paramsOf<P extends ParamSpecs>(
  specs: P,
  given: Readonly<Record<string, ParamValue>>,
): ParamValues<P> {
  const names = Object.keys(specs);
  for (const name of Object.keys(given)) {
    if (names.includes(name)) continue;
    const known = names.length === 0 ? 'the strategy has none' : `the strategy has ${names.join(', ')}`;
    throw new RangeError(`unknown parameter ${JSON.stringify(name)}: ${known}`);
  }
  const values = names.map((name) => {
    const spec = specs[name] as ParamSpec;
    const value = given[name] ?? spec.default;
    checkValue(`parameter ${name}`, spec, value);
    return [name, value];
  });
  return Object.freeze(Object.fromEntries(values));
}

function checkValue(at: string, spec: ParamSpec, value: unknown): asserts value is ParamValue {
  const wanted = wantedOf(spec);
  if (wanted === null) throw new RangeError(`${at}: the default is a number, a text or true or false`);
  if (!allows(spec, value)) throw new RangeError(`${at}: expected ${wanted}, got ${JSON.stringify(value)}`);
}

function wantedOf(spec: ParamSpec): string | null {
  if (typeof spec.default === 'boolean') return 'true or false';
  if ('choices' in spec) return `one of ${spec.choices.join(', ')}`;
  if (typeof spec.default !== 'number') return null;
  const { min, max, whole } = spec as Extract<ParamSpec, { min?: number }>;
  const kind = whole ? 'a whole number' : 'a number';
  if (min !== undefined && max !== undefined) return `${kind} from ${min} to ${max}`;
  if (min !== undefined) return `${kind} of at least ${min}`;
  return max === undefined ? kind : `${kind} of at most ${max}`;
}

function allows(spec: ParamSpec, value: unknown): boolean {
  if (typeof value !== typeof spec.default) return false;
  if ('choices' in spec) return spec.choices.includes(value as string);
  if (typeof value !== 'number') return true;
  const {
    min = Number.NEGATIVE_INFINITY,
    max = Number.POSITIVE_INFINITY,
    whole = false,
  } = spec as Extract<ParamSpec, { min?: number }>;
  return Number.isFinite(value) && value >= min && value <= max && (!whole || Number.isInteger(value));
}

/** @throws {RangeError} If an object has other keys. */
export function checkKeys(at: string, value: object, allowed: readonly string[]): void {
  const other = Object.keys(value).find((key) => !allowed.includes(key));
  if (other !== undefined) throw new RangeError(`${at}: unknown field ${JSON.stringify(other)}`);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

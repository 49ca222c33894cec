import { z } from 'zod';
import * as accountResources from '../../schema/api/accountResources.ts';
import * as backtests from '../../schema/api/backtests.ts';
import * as exportManifest from '../../schema/api/exportManifest.ts';
import * as liveResources from '../../schema/api/liveResources.ts';
import * as paper from '../../schema/api/paper.ts';
import * as resources from '../../schema/api/resources.ts';
import * as signals from '../../schema/api/signals.ts';
import * as statusResources from '../../schema/api/statusResources.ts';
import type { JsonSchema } from '../../schema/api/types.ts';
import * as webhookResources from '../../schema/api/webhookResources.ts';
import { TICKERS, type Ticker } from '../../schema/market.ts';

/** Shapes in the order of the API description, by their names there: `candleShape` is `Candle`. */
const NAMES = new Map<z.ZodType, string>(
  Object.entries({
    ...resources,
    ...accountResources,
    ...liveResources,
    ...signals,
    ...backtests,
    ...paper,
    ...exportManifest,
    ...statusResources,
    ...webhookResources,
  }).flatMap(([name, shape]) => (shape instanceof z.ZodType ? [[shape, componentName(name)] as const] : [])),
);

/**
 * Every named shape as a JSON Schema (2020-12); they reference each other by name.
 * @param tickers The followed assets. The schemas list only these, although stored rows may name others.
 */
export function componentSchemas(tickers: readonly Ticker[]): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [shape, id] of NAMES) registry.add(shape, { id });
  const { schemas } = z.toJSONSchema(registry, {
    uri: reference,
    override: (context) => simplify(context, tickers),
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _dialect, $id: _address, ...schema }]) => [id, schema]),
  );
}

/**
 * @throws {TypeError} For a shape that is not exported by `schema/api/resources.ts`, `accountResources.ts`,
 * `liveResources.ts`, `signals.ts`, `exportManifest.ts`, `statusResources.ts` or `webhookResources.ts`, and therefore
 * has no name.
 */
export function schemaReference(shape: z.ZodType): { $ref: string } {
  const name = NAMES.get(shape);
  if (name === undefined) throw new TypeError('the shape of an answer must be exported by resources.ts');
  return { $ref: reference(name) };
}

function reference(name: string): string {
  return `#/components/schemas/${name}`;
}

function componentName(exported: string): string {
  const name = exported.replace(/Shape$/, '');
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/**
 * Removes properties of a zod schema that apply only to JavaScript, patterns that `format` already implies, and assets
 * that are not followed from every list of all assets.
 */
function simplify({ jsonSchema }: { jsonSchema: Record<string, unknown> }, tickers: readonly Ticker[]): void {
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  const { enum: names } = jsonSchema;
  if (Array.isArray(names) && TICKERS.every((ticker) => names.includes(ticker))) {
    const isLeftOut = (name: Ticker) => TICKERS.includes(name) && !tickers.includes(name);
    jsonSchema.enum = names.filter((name) => !isLeftOut(name));
  }
  const types = [jsonSchema.type].flat();
  if (types.includes('integer')) {
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    jsonSchema.format = 'int64';
  }
  if (types.includes('number')) jsonSchema.format = 'double';
}

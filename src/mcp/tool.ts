import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Underround } from '../client/client.ts';

/** What a tool needs to answer. */
export interface ToolContext {
  readonly client: Underround;
  readonly signal: AbortSignal;
  /** Unix milliseconds. */
  readonly nowMs: number;
}

/** One tool of the MCP server, for a language model. */
export interface Tool<Args = never> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: StandardSchemaWithJSON;
  /** It changes something: it is offered only with `--allow-write`. */
  readonly writes: boolean;
  run(args: Args, context: ToolContext): Promise<ToolAnswer>;
}

/** The answer of the API, and a sentence on what is left out of it. */
export interface ToolAnswer {
  readonly body: Readonly<Record<string, unknown>>;
  /** What is left out and how to get it; null: nothing. */
  readonly leftOut: string | null;
}

/** Input that the API would not understand, with the next step. */
export class ToolInputError extends Error {}

/** Declares a tool that only reads. */
export function readingTool<S extends z.ZodRawShape>(declared: {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: S;
  run(args: z.infer<z.ZodObject<S>>, context: ToolContext): Promise<ToolAnswer>;
}): Tool {
  return { ...declared, input: z.strictObject(declared.input), writes: false };
}

/** Says that a list goes on. */
export function following(nextCursor: string | null): string | null {
  return nextCursor === null
    ? null
    : `More rows follow: call this tool again with the same arguments and cursor ${nextCursor}`;
}

/** Leaves out the end of a list. */
export function shortened<T>(list: readonly T[], most: number, what: string): [readonly T[], string | null] {
  if (list.length <= most) return [list, null];
  return [list.slice(0, most), `${list.length - most} of ${list.length} ${what} are left out`];
}

/** One sentence for all that is left out. */
export function joined(...parts: readonly (string | null)[]): string | null {
  const given = parts.filter((part) => part !== null);
  return given.length === 0 ? null : given.join('. ');
}

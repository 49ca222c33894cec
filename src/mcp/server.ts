import { type CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { Underround } from '../client/client.ts';
import { ApiError, type ErrorCode, UnderroundError } from '../client/errors.ts';
import type { ClientOptions } from '../client/requests.ts';
import type { Clock } from '../runtime/clock.ts';
import { API_VERSION } from '../schema/version.ts';
import { marketTools } from './marketTools.ts';
import { signalTools, writingTools } from './signalTools.ts';
import { type Tool, type ToolAnswer, ToolInputError } from './tool.ts';

/** Longest answer, in characters of JSON: about 25,000 tokens. The limits of the tools keep far below it. */
const ANSWER_CHARACTERS_MAX = 100_000;
/** A model waits for a tool: it is better served by a refusal than by a long pause. */
const RETRIES = { triesMax: 3, waitMsMax: 10_000 };

const INSTRUCTIONS =
  'Recorded order books of short crypto up-or-down prediction markets. Find a market with list_markets or get_market, then read its book, prices and gaps. YES means that the price ends at or above the strike. Prices are USDC per share, times are UTC, a missing number is null. Check coverage and trusted before you rely on data. Tools leave out what left_out names.';

/** What to do after an error of the API. */
const NEXT_STEP: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'Correct the arguments; an unchanged call fails again.',
  unauthorized:
    'Ask the user to set UNDERROUND_API_KEY to a valid key of this service and to restart this server.',
  forbidden:
    'The user’s tier does not include this: ask for a later start, or for fewer markets, or tell the user.',
  not_found: 'Check the id: list_markets lists recorded markets, list_backtests the backtests.',
  conflict: 'The state changed meanwhile; read it again.',
  too_large: 'Ask for less.',
  rate_limited: 'Wait before the next call, and make fewer.',
  unavailable: 'The service is busy or in maintenance; call again in a minute.',
  unexpected: 'UNDERROUND_URL may not be the address of an Underround service; ask the user.',
  no_answer: 'The service may not be running, or UNDERROUND_URL is wrong; ask the user.',
  stream_ended: 'Call again.',
  bad_signature: 'Ask the user.',
  book_gap: 'Call again.',
};

interface McpServiceOptions {
  readonly service: Pick<ClientOptions, 'url' | 'key' | 'clock' | 'random'>;
  /** Whether tools that create something are offered. */
  readonly allowWrite: boolean;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * An MCP server whose tools read a service through its API, as any client does. Make one for each connection.
 */
export function mcpServer({ service, allowWrite, clock }: McpServiceOptions): McpServer {
  const client = new Underround({ ...service, ...RETRIES });
  const server = new McpServer({ name: 'underround', version: API_VERSION }, { instructions: INSTRUCTIONS });
  const tools: readonly Tool[] = [...marketTools, ...signalTools, ...(allowWrite ? writingTools : [])];
  for (const tool of tools) {
    const { name, title, description, input, writes } = tool;
    const annotations = {
      readOnlyHint: !writes,
      destructiveHint: false,
      idempotentHint: !writes,
      openWorldHint: false,
    };
    const outputSchema = z.looseObject({
      left_out: z
        .string()
        .nullable()
        .describe('What is left out of this answer and how to get it; null: nothing'),
    });
    server.registerTool(
      name,
      { title, description, inputSchema: input, outputSchema, annotations },
      async (args, { mcpReq }) => {
        try {
          const context = { client, signal: mcpReq.signal, nowMs: clock.now() };
          return resultOf(await tool.run(args as never, context));
        } catch (error) {
          return failureOf(error);
        }
      },
    );
  }
  return server;
}

function resultOf({ body, leftOut }: ToolAnswer): CallToolResult {
  const structuredContent = { ...body, left_out: leftOut };
  const text = JSON.stringify(structuredContent);
  if (text.length > ANSWER_CHARACTERS_MAX)
    return failed(
      `The answer has ${text.length} characters, too many. Ask for less with limit, levels or trades.`,
    );
  return { content: [{ type: 'text', text }], structuredContent };
}

/** An error in words, with the next step. A defect of this server is an error of the protocol instead. */
function failureOf(error: unknown): CallToolResult {
  if (error instanceof ToolInputError) return failed(error.message);
  if (!(error instanceof UnderroundError)) throw error;
  const waitMs = error instanceof ApiError ? error.retryAfterMs : null;
  const wait = waitMs === null ? '' : ` Retry after ${waitMs / 1000} s.`;
  return failed(`${error.message}.${wait} ${NEXT_STEP[error.code]}`);
}

function failed(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}

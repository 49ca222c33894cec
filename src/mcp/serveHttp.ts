import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpServerFactory,
  originValidationResponse,
} from '@modelcontextprotocol/server';

export const MCP_PATH = '/mcp';
const BODY_MAX_BYTES = 1024 * 1024;

/**
 * Serves MCP as streamable HTTP at `/mcp`. Requests for other host names, and from pages of other origins, are refused:
 * a web page must not reach a server on this machine (DNS rebinding).
 * @returns The server, not yet listening.
 */
export function mcpHttpServer(factory: McpServerFactory): Server {
  const handler = createMcpHandler(factory, { maxRequestBodySize: BODY_MAX_BYTES });
  const server = createServer((message, reply) => {
    answer(message, handler.fetch)
      .catch(() => new Response(null, { status: 400 }))
      .then((response) => send(response, reply))
      // The client left.
      .catch(() => reply.destroy());
  });
  server.on('close', () => void handler.close());
  return server;
}

async function answer(
  message: IncomingMessage,
  serve: (request: Request) => Promise<Response>,
): Promise<Response> {
  const { method = 'GET', url = '/' } = message;
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers))
    for (const one of [value ?? []].flat()) headers.append(name, one);
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const init = {
    method,
    headers,
    ...(hasBody
      ? { body: Readable.toWeb(message) as ReadableStream<Uint8Array>, duplex: 'half' as const }
      : {}),
  };
  const request = new Request(new URL(url, 'http://localhost'), init);
  const refused =
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins());
  if (refused) return refused;
  if (new URL(request.url).pathname !== MCP_PATH)
    return Response.json({ error: `MCP is served at ${MCP_PATH}` }, { status: 404 });
  return await serve(request);
}

async function send(response: Response, reply: ServerResponse): Promise<void> {
  reply.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) reply.end();
  else await pipeline(Readable.fromWeb(response.body as ReadableStream), reply);
}

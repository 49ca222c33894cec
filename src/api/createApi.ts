import type { FastifyInstance } from 'fastify';
import type { ApiParts } from '../http/parts.ts';
import { createServer } from '../http/server.ts';
import { allRoutes } from './routes.ts';

/** Builds the HTTP server of API and dashboard; it is not listening yet. */
export function createApi(parts: ApiParts): FastifyInstance {
  return createServer(allRoutes(parts), parts);
}

import type { FastifyInstance } from 'fastify';
import type { ApiParts } from '../http/parts.ts';
import { createServer } from '../http/server.ts';
import { allRoutes } from './routes.ts';

/** The API and the dashboard, not yet listening. */
export function createApi(parts: ApiParts): FastifyInstance {
  return createServer(allRoutes(parts), parts);
}

import type { FastifyInstance } from 'fastify';
import { createServer, type ServerOptions } from '../http/server.ts';
import { type KeptChangesDependencies, withKeptChanges } from './keptChanges.ts';
import { allRoutes, type RouteDependencies } from './routes.ts';

export type ApiDependencies = RouteDependencies & KeptChangesDependencies & ServerOptions;
/** What the recorder knows at this moment; reading it never waits. */
export type LiveState = ApiDependencies['live'];

/** The API and the dashboard, not yet listening. */
export function createApi(dependencies: ApiDependencies): FastifyInstance {
  const routes = allRoutes(dependencies).map((route) => withKeptChanges(route, dependencies));
  return createServer(routes, dependencies);
}

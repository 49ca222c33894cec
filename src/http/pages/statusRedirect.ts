import type { FastifyInstance } from 'fastify';
import type { Route } from '../route.ts';

export const STATUS_PATHS = ['/status', '/status.json'];

/**
 * Leads from the public addresses of the status page to those of the operator, where it is not public.
 * @returns The served paths, so that other methods can be refused.
 */
export function redirectStatus(
  app: FastifyInstance,
  routes: readonly Pick<Route, 'path'>[],
): { path: string; method: 'GET' }[] {
  const declared = new Set(routes.map(({ path }) => path));
  const led = STATUS_PATHS.filter((path) => !declared.has(path) && declared.has(`/app${path}`));
  for (const path of led) {
    app.get(path, { exposeHeadRoute: true }, (_request, reply) => reply.redirect(`/app${path}`, 303));
  }
  return led.map((path) => ({ path, method: 'GET' }));
}

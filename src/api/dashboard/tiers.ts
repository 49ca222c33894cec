import type { ApiParts } from '../../http/parts.ts';
import { type Route, route } from '../../http/route.ts';
import { tierTableShape } from '../../schema/api/accountResources.ts';

/** The tier table of this service, which an operator can change. */
export function tierRoutes(parts: Pick<ApiParts, 'tiers'>): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/tiers',
      auth: 'session',
      access: { feature: null },
      summary: 'Features and limits of each tier of this service',
      response: tierTableShape,
      handle: () => ({ body: JSON.stringify({ tiers: parts.tiers }) }),
    }),
  ];
}

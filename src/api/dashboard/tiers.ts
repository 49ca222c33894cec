import type { TierTable } from '../../accounts/users/tiers.ts';
import { type Route, route } from '../../http/route.ts';
import { tierTableShape } from '../../schema/api/accountResources.ts';

/** What the tiers of this very service may do, so that its users need not guess. */
export function tierRoutes(parts: { tiers: TierTable }): Route[] {
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

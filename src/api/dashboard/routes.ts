import type { ApiParts } from '../../http/parts.ts';
import type { Route } from '../../http/route.ts';
import { accountEventRoutes } from './accountEvents.ts';
import { feedRoutes } from './feeds.ts';
import { firstRunRoute } from './firstRun.ts';
import { keyRoutes } from './keys.ts';
import { liveRoutes } from './live.ts';
import { maintenanceRoutes } from './maintenance.ts';
import { sessionRoutes } from './sessions.ts';
import { signInRoutes } from './signIn.ts';
import { tierRoutes } from './tiers.ts';
import { userRoutes } from './users.ts';
import { webhookDeliveryRoutes } from './webhookDeliveries.ts';
import { webhookRoutes } from './webhooks.ts';

/** The dashboard's own routes: accounts, sessions, keys, webhooks and the operator's pages. */
export function dashboardRoutes(parts: ApiParts): Route[] {
  return [
    firstRunRoute(parts),
    ...signInRoutes(parts),
    ...sessionRoutes(parts),
    ...tierRoutes(parts),
    ...keyRoutes(parts),
    ...webhookRoutes(parts),
    ...webhookDeliveryRoutes(parts),
    ...userRoutes(parts),
    ...maintenanceRoutes(parts),
    ...accountEventRoutes(parts),
    ...feedRoutes(parts),
    ...liveRoutes(parts),
  ];
}

/** Serves every operation that needs a key under `/app` too, for a signed-in browser: same handler, the user's tier. */
export function mirroredRoutes(routes: readonly Route[]): Route[] {
  return routes
    .filter(({ auth, path }) => auth === 'key' && path.startsWith('/v1/'))
    .map((declared) => ({
      ...declared,
      path: declared.path.replace(/^\/v1\//, '/app/'),
      auth: 'session' as const,
      mirrors: declared.path,
    }));
}

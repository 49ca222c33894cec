import type { Route } from '../../http/route.ts';
import { accountEventRoutes } from './accountEvents.ts';
import { driftRoutes } from './drift.ts';
import { feedRoutes } from './feeds.ts';
import { firstRunRoute } from './firstRun.ts';
import { jobSummaryRoute } from './jobSummaries.ts';
import { keyRoutes } from './keys.ts';
import { liveRoutes } from './live.ts';
import { maintenanceRoutes } from './maintenance.ts';
import { operatorSummaryRoutes } from './operatorSummary.ts';
import { sessionRoutes } from './sessions.ts';
import { signInRoutes } from './signIn.ts';
import { tierRoutes } from './tiers.ts';
import { userRoutes } from './users.ts';
import { webhookDeliveryRoutes } from './webhookDeliveries.ts';
import { webhookRoutes } from './webhooks.ts';

/** The dependencies that the routes of one file declare. */
export type Needs<Routes extends (parts: never) => unknown> = Parameters<Routes>[0];

type DashboardDependencies = Needs<typeof accountEventRoutes> &
  Needs<typeof driftRoutes> &
  Needs<typeof feedRoutes> &
  Needs<typeof firstRunRoute> &
  Needs<typeof jobSummaryRoute> &
  Needs<typeof keyRoutes> &
  Needs<typeof liveRoutes> &
  Needs<typeof maintenanceRoutes> &
  Needs<typeof operatorSummaryRoutes> &
  Needs<typeof sessionRoutes> &
  Needs<typeof signInRoutes> &
  Needs<typeof tierRoutes> &
  Needs<typeof userRoutes> &
  Needs<typeof webhookDeliveryRoutes> &
  Needs<typeof webhookRoutes>;

/** The dashboard's own routes: accounts, sessions, keys, and what an operator does. */
export function dashboardRoutes(parts: DashboardDependencies): Route[] {
  return [
    firstRunRoute(parts),
    ...signInRoutes(parts),
    ...sessionRoutes(parts),
    ...tierRoutes(parts),
    jobSummaryRoute(parts),
    ...keyRoutes(parts),
    ...webhookRoutes(parts),
    ...webhookDeliveryRoutes(parts),
    ...userRoutes(parts),
    ...maintenanceRoutes(parts),
    ...operatorSummaryRoutes(parts),
    ...accountEventRoutes(parts),
    ...driftRoutes(parts),
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

import { dashboardRoutes, mirroredRoutes } from './app/routes.ts';
import type { ApiParts } from './parts.ts';
import { arbAuditRoutes } from './resources/arbAudit.ts';
import { arbLiveRoute } from './resources/arbLive.ts';
import { backtestRoutes } from './resources/backtests.ts';
import { calibrationRoute } from './resources/calibration.ts';
import { candlesRoute } from './resources/candles.ts';
import { descriptionRoutes } from './resources/description.ts';
import { exportRoute } from './resources/export.ts';
import { gapsRoute } from './resources/gaps.ts';
import { healthRoutes } from './resources/health.ts';
import { marketRoutes } from './resources/markets.ts';
import { paperRoutes } from './resources/paper.ts';
import { perpDepthRoute } from './resources/perpDepth.ts';
import { replayRoute } from './resources/replay.ts';
import { snapshotRoutes } from './resources/snapshots.ts';
import { streamRoutes } from './resources/streams.ts';
import { timeseriesRoute } from './resources/timeseries.ts';
import { tradesRoute, underlyingRoute } from './resources/trades.ts';
import type { Route } from './route.ts';

/** Every operation of the API, in the order the description lists them. */
export function allRoutes(parts: ApiParts): Route[] {
  const routes = [
    ...healthRoutes(parts),
    perpDepthRoute(parts),
    ...marketRoutes(parts),
    timeseriesRoute(parts),
    ...snapshotRoutes(parts),
    tradesRoute(parts),
    underlyingRoute(parts),
    candlesRoute(parts),
    calibrationRoute(parts),
    gapsRoute(parts),
    exportRoute(parts),
    arbLiveRoute(parts),
    ...arbAuditRoutes(parts),
    ...backtestRoutes(parts),
    ...paperRoutes(parts),
    ...streamRoutes(parts),
    replayRoute(parts),
  ];
  routes.push(...dashboardRoutes(parts), ...mirroredRoutes(routes));
  routes.push(...descriptionRoutes(routes));
  return routes;
}

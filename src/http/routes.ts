import { arbAuditRoutes } from '../api/arbAudit.ts';
import { arbLiveRoute } from '../api/arbLive.ts';
import { backtestRoutes } from '../api/backtests.ts';
import { calibrationRoute } from '../api/calibration.ts';
import { candlesRoute } from '../api/candles.ts';
import { dashboardRoutes, mirroredRoutes } from '../api/dashboard/routes.ts';
import { descriptionRoutes } from '../api/description.ts';
import { exportRoute } from '../api/export.ts';
import { gapsRoute } from '../api/gaps.ts';
import { healthRoutes } from '../api/health.ts';
import { marketRoutes } from '../api/markets.ts';
import { paperRoutes } from '../api/paper.ts';
import { perpDepthRoute } from '../api/perpDepth.ts';
import { replayRoute } from '../api/replay.ts';
import { snapshotRoutes } from '../api/snapshots.ts';
import { streamRoutes } from '../api/streams.ts';
import { timeseriesRoute } from '../api/timeseries.ts';
import { tradesRoute, underlyingRoute } from '../api/trades.ts';
import type { ApiParts } from './parts.ts';
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

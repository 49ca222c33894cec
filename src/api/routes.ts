import type { ApiParts } from '../http/parts.ts';
import type { Route } from '../http/route.ts';
import { arbAuditRoutes } from './arbAudit.ts';
import { arbLiveRoute } from './arbLive.ts';
import { backtestRoutes } from './backtests.ts';
import { calibrationRoute } from './calibration.ts';
import { candlesRoute } from './candles.ts';
import { dashboardRoutes, mirroredRoutes } from './dashboard/routes.ts';
import { descriptionRoutes } from './description.ts';
import { exportRoute } from './export.ts';
import { gapsRoute } from './gaps.ts';
import { healthRoutes } from './health.ts';
import { marketRoutes } from './markets.ts';
import { paperRoutes } from './paper.ts';
import { perpDepthRoute } from './perpDepth.ts';
import { replayRoute } from './replay.ts';
import { snapshotRoutes } from './snapshots.ts';
import { streamRoutes } from './streams.ts';
import { timeseriesRoute } from './timeseries.ts';
import { tradesRoute, underlyingRoute } from './trades.ts';

/** Every operation of the API, in the order of the API description. */
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

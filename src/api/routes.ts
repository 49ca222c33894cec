import type { Route } from '../http/route.ts';
import { arbAuditRoutes } from './arbAudit.ts';
import { arbLiveRoute } from './arbLive.ts';
import { backtestRoutes } from './backtests.ts';
import { calibrationRoute } from './calibration.ts';
import { candlesRoute } from './candles.ts';
import { dashboardRoutes, mirroredRoutes, type Needs } from './dashboard/routes.ts';
import { descriptionRoutes } from './description.ts';
import { exportManifestRoute, exportRoute } from './export.ts';
import { gapsRoute } from './gaps.ts';
import { healthRoutes } from './health.ts';
import { marketRoutes } from './markets.ts';
import { paperRoutes } from './paper.ts';
import { perpDepthRoute } from './perpDepth.ts';
import { replayRoute } from './replay.ts';
import { snapshotRoutes } from './snapshots.ts';
import { statusRoutes } from './status.ts';
import { streamRoutes } from './streams.ts';
import { tapeRoutes } from './tapes.ts';
import { timeseriesRoute } from './timeseries.ts';
import { tradesRoute, underlyingRoute } from './trades.ts';

/** The dependencies of all routes: each file declares those of its own. */
export type RouteDependencies = Needs<typeof arbAuditRoutes> &
  Needs<typeof arbLiveRoute> &
  Needs<typeof backtestRoutes> &
  Needs<typeof calibrationRoute> &
  Needs<typeof candlesRoute> &
  Needs<typeof dashboardRoutes> &
  Needs<typeof exportRoute> &
  Needs<typeof gapsRoute> &
  Needs<typeof healthRoutes> &
  Needs<typeof marketRoutes> &
  Needs<typeof paperRoutes> &
  Needs<typeof perpDepthRoute> &
  Needs<typeof replayRoute> &
  Needs<typeof snapshotRoutes> &
  Needs<typeof statusRoutes> &
  Needs<typeof streamRoutes> &
  Needs<typeof tapeRoutes> &
  Needs<typeof timeseriesRoute> &
  Needs<typeof tradesRoute> &
  Needs<typeof underlyingRoute>;

/** Every operation of the API, in the order the description lists them. */
export function allRoutes(parts: RouteDependencies): Route[] {
  const routes = [
    ...healthRoutes(parts),
    ...statusRoutes(parts),
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
    ...tapeRoutes(parts),
    exportManifestRoute(parts),
    arbLiveRoute(parts),
    ...arbAuditRoutes(parts),
    ...backtestRoutes(parts),
    ...paperRoutes(parts),
    ...streamRoutes(parts),
    replayRoute(parts),
  ];
  routes.push(...dashboardRoutes(parts), ...mirroredRoutes(routes));
  routes.push(...descriptionRoutes(routes, parts));
  return routes;
}

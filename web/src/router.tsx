import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { PERP_VENUES } from '../../src/schema/events.ts';
import { EVENT_TYPES } from '../../src/schema/market.ts';
import { assetIn } from './api/assets.ts';
import { Frame } from './app/Frame.tsx';
import { NotFound } from './app/NotFound.tsx';
import { Shell } from './app/Shell.tsx';
import type { CalibrationSearch } from './pages/calibration/Calibration.tsx';
import type { MarketSearch } from './pages/market/data.ts';
import type { MarketsSearch } from './pages/markets/Markets.tsx';
import type { PerpetualsSearch } from './pages/perpetuals/Perpetuals.tsx';
import { Page } from './ui/Page.tsx';
import { Failure, Loading } from './ui/states.tsx';

const root = createRootRoute({ component: Frame, notFoundComponent: NotFound });

/** Pages for signed-out users. */
const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/Home.tsx'), 'Home'),
});
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>): { next?: string; link?: string } => ({
    // Only a path of this site: `//host` would be another site.
    ...(typeof search.next === 'string' && /^\/(?!\/)/.test(search.next) ? { next: search.next } : {}),
    ...(typeof search.link === 'string' ? { link: search.link } : {}),
  }),
  component: lazyRouteComponent(() => import('./pages/SignIn.tsx'), 'SignIn'),
});
const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  validateSearch: (search: Record<string, unknown>): { setup?: string } =>
    typeof search.setup === 'string' ? { setup: search.setup } : {},
  component: lazyRouteComponent(() => import('./pages/SignUp.tsx'), 'SignUp'),
});

const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell });
const welcome = createRoute({
  getParentRoute: () => shell,
  path: '/welcome',
  component: lazyRouteComponent(() => import('./pages/Welcome.tsx'), 'Welcome'),
});
const STATES = ['open', 'closed', 'resolved'] as const;
/** The value if it is one of these words; otherwise undefined. */
function oneOf<T extends string>(words: readonly T[], value: unknown): T | undefined {
  return words.find((word) => word === value);
}

/** An id from the address, or undefined; the service validates it. */
function nameIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function within(value: unknown, { low, high, usual }: { low: number; high: number; usual: number }): number {
  return typeof value === 'number' && value >= low && value <= high ? value : usual;
}

/** A market whose trades are drawn, and another backtest to compare with. */
interface JobSearch {
  readonly market?: string | undefined;
  readonly with?: string | undefined;
}

/** The job whose request a form starts with. */
interface FromJob {
  readonly from?: string | undefined;
}

const live = createRoute({
  getParentRoute: () => shell,
  path: '/live',
  validateSearch: (search) => ({ ticker: assetIn(search.ticker) ?? 'BTC' }),
  component: lazyRouteComponent(() => import('./pages/live/Live.tsx'), 'Live'),
});
const markets = createRoute({
  getParentRoute: () => shell,
  path: '/markets',
  validateSearch: (search): MarketsSearch => ({
    ...{ ticker: assetIn(search.ticker), event_type: oneOf(EVENT_TYPES, search.event_type) },
    status: oneOf(STATES, search.status),
  }),
  component: lazyRouteComponent(() => import('./pages/markets/Markets.tsx'), 'Markets'),
});
const market = createRoute({
  getParentRoute: () => shell,
  path: '/markets/$marketId',
  validateSearch: (search): MarketSearch => ({
    at: typeof search.at === 'number' ? search.at : undefined,
    ...{ backtest: nameIn(search.backtest), paper: nameIn(search.paper) },
  }),
  component: lazyRouteComponent(() => import('./pages/market/MarketPage.tsx'), 'MarketPage'),
});
const perpetuals = createRoute({
  getParentRoute: () => shell,
  path: '/perpetuals',
  validateSearch: (search): PerpetualsSearch => ({
    ticker: assetIn(search.ticker),
    venue: oneOf(PERP_VENUES, search.venue) ?? PERP_VENUES[0],
  }),
  component: lazyRouteComponent(() => import('./pages/perpetuals/Perpetuals.tsx'), 'Perpetuals'),
});
const calibration = createRoute({
  getParentRoute: () => shell,
  path: '/calibration',
  validateSearch: (search): CalibrationSearch => ({
    ...{ ticker: assetIn(search.ticker), event_type: oneOf(EVENT_TYPES, search.event_type) },
    minutes_before: within(search.minutes_before, { low: 0, high: 1440, usual: 2 }),
    buckets: within(search.buckets, { low: 2, high: 50, usual: 10 }),
  }),
  component: lazyRouteComponent(() => import('./pages/calibration/Calibration.tsx'), 'Calibration'),
});
const signals = createRoute({
  getParentRoute: () => shell,
  path: '/signals',
  validateSearch: (search) => ({ view: oneOf(['live', 'history', 'audit'] as const, search.view) ?? 'live' }),
  component: lazyRouteComponent(() => import('./pages/signals/Signals.tsx'), 'Signals'),
});
const webhooks = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./pages/webhooks/Webhooks.tsx'), 'Webhooks'),
});
const webhook = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks/$webhookId',
  component: lazyRouteComponent(() => import('./pages/webhooks/WebhookPage.tsx'), 'WebhookPage'),
});
const backtests = createRoute({
  getParentRoute: () => shell,
  path: '/backtests',
  validateSearch: (search): FromJob => ({ from: nameIn(search.from) }),
  component: lazyRouteComponent(() => import('./pages/backtests/Backtests.tsx'), 'Backtests'),
});
const backtest = createRoute({
  getParentRoute: () => shell,
  path: '/backtests/$jobId',
  validateSearch: (search): JobSearch => ({
    ...{ market: nameIn(search.market), with: nameIn(search.with) },
  }),
  component: lazyRouteComponent(() => import('./pages/backtests/Job.tsx'), 'Job'),
});
const papers = createRoute({
  getParentRoute: () => shell,
  path: '/paper',
  validateSearch: (search): FromJob => ({ from: nameIn(search.from) }),
  component: lazyRouteComponent(() => import('./pages/paper/PaperStrategies.tsx'), 'PaperStrategies'),
});
const paper = createRoute({
  getParentRoute: () => shell,
  path: '/paper/$strategyId',
  component: lazyRouteComponent(() => import('./pages/paper/PaperStrategyPage.tsx'), 'PaperStrategyPage'),
});
const operator = createRoute({
  getParentRoute: () => shell,
  path: '/operator',
  component: lazyRouteComponent(() => import('./pages/operator/Operator.tsx'), 'Operator'),
});
const keys = createRoute({
  getParentRoute: () => shell,
  path: '/keys',
  component: lazyRouteComponent(() => import('./pages/keys/Keys.tsx'), 'Keys'),
});
const account = createRoute({
  getParentRoute: () => shell,
  path: '/account',
  component: lazyRouteComponent(() => import('./pages/account/Account.tsx'), 'Account'),
});

const routeTree = root.addChildren([
  home,
  signIn,
  signUp,
  shell.addChildren([
    welcome,
    live,
    markets,
    market,
    perpetuals,
    calibration,
    signals,
    backtests,
    backtest,
    papers,
    paper,
    webhooks,
    webhook,
    keys,
    account,
    operator,
  ]),
]);

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingComponent: Loading,
  defaultErrorComponent: ({ error, reset }) => (
    <Page title="This page failed">
      <Failure error={error} retry={reset} />
    </Page>
  ),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

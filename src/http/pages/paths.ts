/**
 * Every path at which the dashboard has a page; `web/src/router.tsx` maps each to its page. With this list any other
 * path is 404 instead of an empty page.
 */
export const PAGE_PATHS = [
  '/',
  '/sign-in',
  '/sign-up',
  '/welcome',
  '/live',
  '/markets',
  '/markets/{market_id}',
  '/perpetuals',
  '/calibration',
  '/signals',
  '/webhooks',
  '/webhooks/{webhook_id}',
  '/backtests',
  '/backtests/{job_id}',
  '/paper',
  '/paper/{strategy_id}',
  '/keys',
  '/account',
  '/operator',
] as const;

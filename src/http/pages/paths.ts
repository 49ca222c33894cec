/**
 * Every address the dashboard shows a page at; `web/src/router.tsx` has the page of each. A list, because any other
 * address is 404 and not an empty page.
 */
export const PAGE_PATHS = [
  '/',
  '/sign-in',
  '/sign-up',
  '/welcome',
  '/live',
  '/markets',
  '/markets/{market_id}',
  '/calibration',
  '/signals',
  '/webhooks',
  '/backtests',
  '/backtests/{job_id}',
  '/paper',
  '/paper/{strategy_id}',
  '/keys',
  '/account',
  '/operator',
] as const;

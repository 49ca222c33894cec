/** Pages in the order they are listed. A page whose part of the API is not served is not here. */
export const NAVIGATION = [
  { to: '/live', label: 'Live' },
  { to: '/markets', label: 'Markets' },
  { to: '/calibration', label: 'Calibration' },
  { to: '/signals', label: 'Signals' },
  { to: '/backtests', label: 'Backtests' },
  { to: '/webhooks', label: 'Webhooks' },
  { to: '/keys', label: 'API keys' },
  { to: '/account', label: 'Account' },
  { to: '/operator', label: 'Operator' },
] as const;

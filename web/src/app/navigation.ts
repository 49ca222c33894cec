/** Pages in the order of the menu. */
export const NAVIGATION = [
  { to: '/live', label: 'Live' },
  { to: '/markets', label: 'Markets' },
  { to: '/perpetuals', label: 'Perpetuals' },
  { to: '/calibration', label: 'Calibration' },
  { to: '/signals', label: 'Signals' },
  { to: '/backtests', label: 'Backtests' },
  { to: '/paper', label: 'Paper' },
  { to: '/webhooks', label: 'Webhooks' },
  { to: '/keys', label: 'API keys' },
  { to: '/account', label: 'Account' },
  { to: '/operator', label: 'Operator' },
] as const;

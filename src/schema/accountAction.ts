/** Recorded actions on accounts and on the service as a whole. */
export const ACCOUNT_ACTIONS = [
  'sign_in',
  'sign_up',
  'change_password',
  'set_password',
  'enable_totp',
  'disable_totp',
  'reset_totp',
  'set_tier',
  'suspend',
  'unsuspend',
  'set_operator',
  'maintenance_on',
  'maintenance_off',
] as const;
export type AccountAction = (typeof ACCOUNT_ACTIONS)[number];

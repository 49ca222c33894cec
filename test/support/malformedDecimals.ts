/** Texts that are no plain decimal: the venues' numbers have no sign, no exponent and digits on both sides of a point. */
export const MALFORMED_DECIMALS = [
  '',
  'x1',
  '1x',
  '1.',
  '.5',
  '1.5x',
  'x1.5',
  '-1',
  '+1',
  '1e3',
  ' 1',
  '1 ',
  '1,5',
] as const;

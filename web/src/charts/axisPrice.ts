import { assetPrice } from '../ui/format.ts';

/** The price of an underlying on an axis: labels of large prices need no cents. */
export function axisPrice(value: number): string {
  return value >= 1000 ? `$${value.toLocaleString('en', { maximumFractionDigits: 0 })}` : assetPrice(value);
}

import type { Opportunity } from '../../schema/opportunity.ts';
import type { KindedRecord } from '../../schema/records.ts';

/** A record of all collectors together, with its number in the stream's order. */
export type MergedRecord =
  /** Late: stored, but older than the newest of its kind, so it does not change live state. */
  | (KindedRecord & { readonly isLate: boolean })
  | { readonly kind: 'opportunity'; readonly record: Opportunity; readonly isLate: false };

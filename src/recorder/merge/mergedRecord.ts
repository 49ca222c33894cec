import type { Opportunity } from '../../schema/opportunity.ts';
import type { RecordKind, RecordSink } from '../../schema/records.ts';

/** A record of all collectors together, with its number in the stream's order. */
export type MergedRecord =
  | {
      readonly [K in RecordKind]: {
        readonly kind: K;
        readonly record: Parameters<RecordSink[K]>[0];
        /** Stored, but older than the newest of its kind: it does not change live state. */
        readonly isLate: boolean;
      };
    }[RecordKind]
  | { readonly kind: 'opportunity'; readonly record: Opportunity; readonly isLate: false };

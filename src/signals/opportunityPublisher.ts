import type { RecordStream } from '../bus/recordStream.ts';
import type { Opportunity } from '../schema/opportunity.ts';
import { auditIdOf } from './detection.ts';

/** Publishes opportunities: the bus of this process, or a stream that reaches all processes. */
export interface OpportunityPublisher {
  publish(topic: 'opportunity', event: Opportunity): void;
}

/**
 * Publishes opportunities on the stream. Their message id is the id of the audit row, so one that is published again
 * after a takeover is dropped by the stream.
 */
export function streamedOpportunities(
  stream: Pick<RecordStream, 'publish'>,
  { sender, run }: { sender: string; run: string },
): OpportunityPublisher {
  return {
    publish: (kind, body) => {
      const { market_id: key, tier } = body;
      stream.publish({ kind, body, id: auditIdOf(key, tier), key, sender, run });
    },
  };
}

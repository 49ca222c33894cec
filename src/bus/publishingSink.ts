import { forward, type RecordSink, recordSink } from '../schema/records.ts';
import type { Publisher } from './bus.ts';

/** Writes records to the store, then publishes them on the bus: only accepted records are published. */
export function publishingSink(store: RecordSink, bus: Publisher): RecordSink {
  return recordSink((kind, record) => {
    forward(store, kind, record);
    // The topics of the bus have the records' names and types.
    bus.publish(kind, record as never);
  });
}

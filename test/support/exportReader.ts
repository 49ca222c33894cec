import { exportReader } from '../../src/api/exportReader.ts';
import type { ExportReader } from '../../src/store/export/controlRows.ts';
import type { StoreReader } from '../../src/store/reader.ts';

/** Exports of a recording without signals and jobs. */
export function recordingReader(store: StoreReader): ExportReader {
  return exportReader({ store, audit: { oldest: async () => [] }, jobs: { result: async () => null } });
}

/** What exports read, for the API and for the command line. */
import { jobRows } from '../backtest/jobExport.ts';
import type { JobRepository } from '../backtest/jobs.ts';
import { auditRows } from '../signals/auditExport.ts';
import type { AuditReader } from '../signals/auditReader.ts';
import type { ExportReader } from '../store/export/controlRows.ts';
import type { StoreReader } from '../store/reader.ts';

interface ExportSources {
  readonly store: StoreReader;
  readonly audit: Pick<AuditReader, 'oldest'>;
  readonly jobs: Pick<JobRepository, 'result'>;
}

export function exportReader({ store, audit, jobs }: ExportSources): ExportReader {
  return {
    store,
    controlRows: (subject, range) => ({
      dataset: subject.dataset,
      read: () =>
        subject.dataset === 'signals'
          ? auditRows(audit, subject.markets, range)
          : jobRows(jobs, subject, range),
    }),
  };
}

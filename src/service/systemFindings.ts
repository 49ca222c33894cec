import type { Config } from '../config.ts';
import { backupWarning, readBackupRecord } from '../ops/backupRecord.ts';
import {
  backupFindings,
  diskFindings,
  gapFindings,
  lagFindings,
  type SystemFinding,
} from '../ops/systemFindings.ts';
import type { NodeOptions } from './nodeOptions.ts';
import type { RecordingSource } from './recordingSource.ts';

const HTTPS_PORT = 443;

/** Evaluates what this process knows of the service. */
export function systemFindings(
  { live, storeLagMs, disks }: Pick<RecordingSource, 'live' | 'storeLagMs' | 'disks'>,
  { config, clock }: Pick<NodeOptions, 'config' | 'clock'>,
): () => Promise<readonly SystemFinding[]> {
  const { dataDir, backupMaxAgeDays: maxAgeDays, gapNoticeMs: noticeMs } = config;
  return async () => {
    const nowMs = clock.now();
    const trading = [...live.markets()].filter(({ endTimeMs }) => endTimeMs > nowMs);
    const gaps = trading.flatMap(({ marketId }) => live.gaps.of(marketId) ?? []);
    const backups = maxAgeDays === null ? null : await readBackupRecord(dataDir);
    return [
      ...gapFindings(gaps, { noticeMs, nowMs }),
      ...lagFindings(storeLagMs()),
      ...diskFindings(await disks()),
      ...backupFindings(backups && backupWarning(backups, { maxAgeDays, nowMs })),
    ];
  };
}

/** The status page at the first public name; null without one. */
export function statusUrl({
  publicHosts: [host],
  tlsCertFile,
  port,
}: Pick<Config, 'publicHosts' | 'tlsCertFile' | 'port'>): string | null {
  if (host === undefined) return null;
  // Without certificates of its own the service is behind a proxy, which has the usual port.
  const isUsual = tlsCertFile === null || port === HTTPS_PORT;
  return `https://${host}${isUsual ? '' : `:${port}`}/status`;
}

import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { UnknownVersion } from '../../runtime/unknownVersionRegistry.ts';
import type { VersionPlace } from '../../schema/protocol.ts';

export interface FoundVersion extends UnknownVersion {
  readonly where: VersionPlace;
}

/**
 * Counts data of an unknown protocol version, shows it to the operator, and logs it once for each market. The caller
 * sets the data aside: with other ids or another hash, nothing of it could be proven.
 */
export function reportUnknownVersion(
  { log, metrics }: { log: Logger; metrics: Metrics },
  found: FoundVersion,
): void {
  metrics
    .counter(
      'underround_unknown_versions_total',
      'Listings, books and frames refused because of an unknown protocol version',
      ['where'],
    )
    .inc({ where: found.where });
  if (metrics.unknownVersions.note(found)) log.warn(found, 'protocol.version_unknown');
}

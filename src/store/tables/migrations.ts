/**
 * The numbered changes of the store's tables. A column or projection names the number that added it (`added`). In one
 * engine a migration is one statement on one table: the engine applies it or does not. Numbers are never used again.
 */

interface StoreMigration {
  readonly number: number;
  readonly name: string;
}

export const STORE_MIGRATIONS: readonly StoreMigration[] = [
  'tables',
  'quotes_minute_mids',
  'markets_settlement',
  'markets_recorded_since',
  'gaps_known',
  'gaps_received',
  'markets_resolved_time_source',
  'perp_depth_venue',
  'markets_rules',
  'books_late',
  'quotes_late',
  'underlying_late',
  'trades_late',
].map((name, index) => ({ number: index + 1, name }));

/** The version of a store with every migration. */
export const STORE_VERSION = STORE_MIGRATIONS.length;

const COMMENT = /^underround store version (\d+)$/;

/** The comment of the database that records a version. */
export function versionComment(version: number): string {
  return `underround store version ${version}`;
}

/** The version in a comment; null where the comment is none of this service. */
export function recordedVersion(comment: string): number | null {
  const [, version] = COMMENT.exec(comment) ?? [];
  return version === undefined ? null : Number(version);
}

import type { ClobEvent, PerpDepthEvent, UnderlyingEvent } from '../../../schema/events.ts';

/** Something to record. `isYes`: whether the event's token is YES; null where the archive does not say. */
export type ArchivedEvent =
  | { readonly kind: 'clob'; readonly event: ClobEvent; readonly isYes: boolean | null }
  | { readonly kind: 'perp_depth'; readonly event: PerpDepthEvent }
  | { readonly kind: 'underlying'; readonly event: UnderlyingEvent };

/** What a reader of an archive finds in its file, in the file's order. */
export type ArchiveItem =
  | ArchivedEvent
  /** A row that says something this service has no table for, or that an option leaves out. */
  | { readonly kind: 'unused'; readonly reason: string }
  | { readonly kind: 'bad'; readonly row: number; readonly reason: string };

export interface ArchiveReader {
  /** As in docs/IMPORT.md. */
  readonly layout: string;
  /** Facts that the archive does not have; they stay null, and its books are not proven. */
  readonly lacks: readonly string[];
  readonly items: AsyncIterable<ArchiveItem>;
}

/** Why a row cannot be read. It is counted, and the rows after it are read. */
export class BadRowError extends Error {
  override readonly name = 'BadRowError';
}

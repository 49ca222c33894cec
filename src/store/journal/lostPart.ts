/** Rows lost with a broken part of the engine's data, as the engine's host reports them. */
export interface LostPart {
  /** `<table>/<part>`; the same loss has the same id after a restart. */
  readonly id: string;
  readonly table: string;
  readonly part: string;
  /** Number of rows; null where the part's files do not contain it. */
  readonly rows: number | null;
  /** Bounds of `ts` of the rows, Unix ms; null for tables without daily partitions. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

/** Result of one round of reading parts completely. */
export interface PartCheck {
  /** Whether every part that was active at the start of the round has been read completely, now or before. */
  readonly complete: boolean;
  /** Parts found broken since the host started. */
  readonly broken: number;
  /** Losses that are not acknowledged yet, including those of earlier runs. */
  readonly lost: readonly LostPart[];
}

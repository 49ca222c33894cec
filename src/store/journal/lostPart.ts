/** Rows that a broken part of the engine's data has cost, as the engine's host reports them. */
export interface LostPart {
  /** `<table>/<part>`; the same loss has the same id after a restart. */
  readonly id: string;
  readonly table: string;
  readonly part: string;
  /** How many rows; null where the part no longer says. */
  readonly rows: number | null;
  /** Bounds of `ts` of the rows, Unix ms; null for tables that are not kept by day. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

/** What one round of reading parts whole came to. */
export interface PartCheck {
  /** Every part that was active when the round began has been read whole, now or before. */
  readonly complete: boolean;
  /** Parts that were found broken since the host started. */
  readonly broken: number;
  /** Losses nobody has acknowledged yet, those of earlier runs included. */
  readonly lost: readonly LostPart[];
}

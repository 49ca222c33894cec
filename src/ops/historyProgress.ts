/** How far the history is that a service records behind its back while it serves already. */
export interface HistoryProgress {
  /** 0 <= share < 1 of the time to record; 1 only once all of it can be read. */
  readonly share: number;
  readonly hours: number;
  /** Why no more of it comes; null: it goes on. */
  readonly failure: string | null;
}

/** Reads the present state; null: there is no such history, or it is complete. */
export type HistoryState = () => HistoryProgress | null;

/** Whole percent, never 100 before the end. */
export function percentOf({ share }: Pick<HistoryProgress, 'share'>): number {
  return Math.min(99, Math.floor(share * 100));
}

/** The line of `/readyz` for who reads data that is not complete yet; none when it is. */
export function historyLines(progress: HistoryProgress | null): string[] {
  if (progress === null) return [];
  const { hours, failure } = progress;
  const done = `${percentOf(progress)} % of ${hours} h`;
  return [
    failure === null
      ? `history is being recorded: ${done}`
      : `history is incomplete, ${done} recorded: ${failure}`,
  ];
}

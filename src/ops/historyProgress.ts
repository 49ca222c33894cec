/** Progress of history that a running service records in the background. */
export interface HistoryProgress {
  /** 0 <= share < 1 of the time span; 1 only once all of it can be read. */
  readonly share: number;
  readonly hours: number;
  /** Why recording stopped; null while it continues. */
  readonly failure: string | null;
}

/** Reads the current progress; null if there is no such history, or it is complete. */
export type HistoryState = () => HistoryProgress | null;

/** Whole percent, never 100 before the end. */
export function historyPercent({ share }: Pick<HistoryProgress, 'share'>): number {
  return Math.min(99, Math.floor(share * 100));
}

/** Lines of `/readyz` while the history is incomplete; none once it is complete. */
export function historyLines(progress: HistoryProgress | null): string[] {
  if (progress === null) return [];
  const { hours, failure } = progress;
  const done = `${historyPercent(progress)} % of ${hours} h`;
  return [
    failure === null
      ? `history is being recorded: ${done}`
      : `history is incomplete, ${done} recorded: ${failure}`,
  ];
}

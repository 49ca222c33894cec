/** One line of `underround doctor`. */
export interface DoctorCheck {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly finding: string;
  /** What to do; null where nothing is to be done. */
  readonly next: string | null;
}

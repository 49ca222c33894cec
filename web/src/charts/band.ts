/** A time range, Unix seconds. */
export interface Band {
  readonly from: number;
  readonly to: number;
}

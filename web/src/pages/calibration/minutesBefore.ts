/** Minutes before the end that the slider offers: finer where most windows are. */
export const STOPS: readonly number[] = [
  ...[0, 0.5, 1, 1.5, 2, 3, 4, 5, 7.5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 360, 480, 720, 1080, 1440],
];

/** Position of these minutes on the slider, or the nearest one. */
export function stopOf(minutes: number): number {
  const distances = STOPS.map((stop) => Math.abs(stop - minutes));
  return distances.indexOf(Math.min(...distances));
}

/** `1.5 min`, `2 h`. */
export function timeBefore(minutes: number): string {
  return minutes >= 60 && minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;
}

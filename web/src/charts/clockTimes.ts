/** By the distance of two marks in seconds: the format of a time, and that of the first time of a day; in the form of uPlot. */
export const CLOCK_TIMES: readonly (readonly (string | number | null)[])[] = [
  [86_400, '{DD} {MMM}', null, null, null, null, null, null, 1],
  [60, '{HH}:{mm}', null, '\n{DD} {MMM}', null, null, null, null, 1],
  [0.001, '{HH}:{mm}:{ss}', null, '\n{DD} {MMM}', null, null, null, null, 1],
];
/** Least distance of two marks in pixels: `00:00:00` is 64 wide. */
export const CLOCK_TIME_SPACE = 80;

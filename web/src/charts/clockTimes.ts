/** By the distance of two marks in seconds: how a time is written, and how where a new day begins; as uPlot has it. */
export const CLOCK_TIMES: readonly (readonly (string | number | null)[])[] = [
  [86_400, '{DD} {MMM}', null, null, null, null, null, null, 1],
  [60, '{HH}:{mm}', null, '\n{DD} {MMM}', null, null, null, null, 1],
  [0.001, '{HH}:{mm}:{ss}', null, '\n{DD} {MMM}', null, null, null, null, 1],
];
/** Pixels from one mark to the next, at least: `00:00:00` takes 64 of them. */
export const CLOCK_TIME_SPACE = 80;

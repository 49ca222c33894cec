import { generateHistory } from '../src/simulator/history.ts';
import { VenueModel } from '../src/simulator/model.ts';
import type { Figure } from './figure.ts';

const START_MS = Date.UTC(2026, 10, 20, 15);
const MINUTES = 10;
const DENSITY = 0.05;

/** Frames of history per second on one core, including hashes: this bounds the start time of `demo`. */
export async function run(): Promise<Figure[]> {
  const model = new VenueModel({ seed: 'bench', startTimeMs: START_MS, density: DENSITY });
  let frames = 0;
  let bytes = 0;
  const start = performance.now();
  for (const { frame } of generateHistory(model, { endTimeMs: START_MS + MINUTES * 60_000 })) {
    frames++;
    bytes += frame.length;
  }
  const seconds = (performance.now() - start) / 1000;
  return [
    {
      name: 'history generated, hashes included',
      value: frames / seconds,
      unit: 'frames/s',
      goal: '>= 20,000',
    },
    { name: 'history generated', value: bytes / seconds / 1e6, unit: 'MB/s' },
    { name: 'history against simulated time', value: (MINUTES * 60) / seconds, unit: 'x' },
  ];
}

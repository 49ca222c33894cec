import type { Database } from '../../src/control/schema.ts';
import { positionSuite } from './positionSuite.ts';
import { restartSuite } from './restartSuite.ts';
import { strategySuite } from './strategySuite.ts';
import { takeoverSuite } from './takeoverSuite.ts';

/** Required behaviour of paper trading on a database: run it for each driver with a new, empty one. */
export function paperSuite(driver: string, open: () => Promise<Database>): void {
  strategySuite(driver, open);
  positionSuite(driver, open);
  restartSuite(driver, open);
  takeoverSuite(driver, open);
}

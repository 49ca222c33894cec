import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** This process's memory usage after a full garbage collection. */
export function heldMemory(): NodeJS.MemoryUsage {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage();
}

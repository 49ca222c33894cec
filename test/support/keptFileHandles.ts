/**
 * Keeps every file handle that a test opens until its process ends. Tests of a killed process drop a writer without
 * closing it, and Node 26 reports an open handle that is garbage collected as an error. Import it for its side effect.
 */
import { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const kept = new Set<promises.FileHandle>();
const { open } = promises;

promises.open = async (...parameters) => {
  const handle = await open(...parameters);
  kept.add(handle);
  return handle;
};
syncBuiltinESMExports();

#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { run } from './launch.mjs';
import { neededNode } from './neededNode.mjs';

const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
if (existsSync(main)) {
  await run(await neededNode(), main, process.argv.slice(2));
} else {
  console.error('underround is not built yet: run `npm run build` in its directory first');
  process.exitCode = 1;
}

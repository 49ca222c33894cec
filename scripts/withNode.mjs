// Runs a script of this checkout, or a command that npm installed in it, with the Node that the project needs.
// Usage: node scripts/withNode.mjs SCRIPT [WORD...], e.g. `scripts/generate.mjs --check` or `tsc -p tsconfig.json`.
import { neededNode } from '../bin/neededNode.mjs';
import { runNamed } from './runNamed.mjs';

await runNamed(await neededNode(), process.argv.slice(2));

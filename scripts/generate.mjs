// Writes what is generated from the sources and committed: docs/openapi.json. With --check it writes nothing and
// fails when the committed file differs. Runs on the build, so `scripts/prepare.mjs` comes before it.
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('../docs/openapi.json', import.meta.url);
const { describeApi } = await import('../dist/api/description/openapi.js');
const { allRoutes } = await import('../dist/api/routes.js');

// Declaring routes asks nothing of the parts they will run on.
const text = `${JSON.stringify(describeApi(allRoutes({})), null, 2)}\n`;
if (!process.argv.includes('--check')) {
  writeFileSync(FILE, text);
} else if (read() !== text) {
  console.error('docs/openapi.json is out of date: run npm run generate and commit it');
  process.exit(1);
}

function read() {
  try {
    return readFileSync(FILE, 'utf8');
  } catch {
    return null;
  }
}

// Writes the generated files that are committed: docs/openapi.json, and the types of the dashboard and of the clients
// derived from it. With --check it writes nothing and fails when a committed file differs. It runs on the build, so `scripts/prepare.mjs`
// must run first.
import { readFileSync, writeFileSync } from 'node:fs';
import { apiTypes, publicPart } from './apiTypes.mjs';
import { pythonTypes } from './pythonTypes.mjs';

const { describeApi } = await import('../dist/http/description/openapi.js');
const { allRoutes } = await import('../dist/api/routes.js');
const { DEFAULT_TICKERS, TICKERS } = await import('../dist/schema/market.js');

// Declaring routes does not use the components that will serve them.
const assets = { tickers: DEFAULT_TICKERS };
const description = describeApi(allRoutes(assets), assets);
// A client may read any service, whichever assets that one follows.
const everyAsset = { tickers: TICKERS };
const everyDescription = describeApi(allRoutes(everyAsset), everyAsset);
const ofClients = publicPart(JSON.parse(JSON.stringify(everyDescription)));
const files = {
  'docs/openapi.json': `${JSON.stringify(description, null, 2)}\n`,
  'web/src/api/schema.ts': apiTypes(JSON.parse(JSON.stringify(description))),
  'src/client/schema.ts': apiTypes(ofClients),
  'clients/python/underround/_types.py': pythonTypes(ofClients),
};
for (const [path, text] of Object.entries(files)) {
  const file = new URL(`../${path}`, import.meta.url);
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text);
  } else if (read(file) !== text) {
    console.error(`${path} is out of date: run npm run generate and commit it`);
    process.exitCode = 1;
  }
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

#!/usr/bin/env node
/** The command of the package: serves the stand-in venues and prints the variables that point a service at them. */
import { parseArgs } from 'node:util';
import { systemClock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { VenueModel } from './model.ts';
import { VenueServer } from './server.ts';

const USAGE = `usage: underround-simulator [--port N] [--seed TEXT] [--density X]

Serves stand-ins of Polymarket and of the exchanges on 127.0.0.1, and prints one line NAME=URL for each variable that
points Underround at them. Ends with SIGINT or SIGTERM.

  --port N      port (default: a free one)
  --seed TEXT   seed of all prices and books (default: 1)
  --density X   book changes as a share of the real venue's, 0.001 to 1 (default: 0.05)
`;

await main(process.argv.slice(2));

async function main(words: string[]): Promise<void> {
  const options = read(words);
  if (typeof options === 'string') {
    process.stderr.write(`underround-simulator: ${options}\n\n${USAGE}`);
    process.exitCode = 2;
    return;
  }
  if (options.isHelp) {
    process.stdout.write(USAGE);
    return;
  }
  const { seed, density, port } = options;
  const model = new VenueModel({ seed, density, startTimeMs: systemClock.now() });
  const server = new VenueServer({ model, clock: systemClock, logger: silentLogger });
  try {
    await server.start(port);
  } catch (error) {
    process.stderr.write(`underround-simulator: ${(error as Error).message}\n`);
    process.exitCode = 1;
    return;
  }
  const variables = Object.entries(server.urls()).map(([name, url]) => `${name}=${url}\n`);
  process.stdout.write(variables.join(''));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void server.stop());
}

/** @returns The options; for invalid words, an error text. */
function read(
  words: string[],
):
  | string
  | { readonly isHelp: boolean; readonly port: number; readonly seed: string; readonly density: number } {
  const options = {
    help: { type: 'boolean', short: 'h', default: false },
    port: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
    density: { type: 'string', default: '0.05' },
  } as const;
  try {
    const { values } = parseArgs({ args: words, options });
    const [port, density] = [Number(values.port), Number(values.density)];
    if (!/^\d+$/.test(values.port) || port > 65_535) return '--port must be a whole number from 0 to 65535';
    if (!(density >= 0.001 && density <= 1)) return '--density must be a number from 0.001 to 1';
    return { isHelp: values.help, port, seed: values.seed, density };
  } catch (error) {
    return (error as Error).message;
  }
}

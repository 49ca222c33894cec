import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { VENUES_OFF } from '../../test/support/venuesOff.ts';
import { readConfig } from '../config.ts';
import { venueChecks } from './doctorVenues.ts';

const VENUE_MS = Date.UTC(2026, 10, 20, 12);

/** The check of a venue whose header names this time, by a machine that is so far from it. */
async function checkAt(aheadMs: number) {
  const server = createServer((_, response) => {
    response.setHeader('date', new Date(VENUE_MS).toUTCString()).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const read = readConfig({ ...VENUES_OFF, UNDERROUND_GAMMA_URL: url });
  if (!('config' in read)) throw new Error(read.problems.join());
  const [check] = await venueChecks(read.config, new FakeClock(VENUE_MS + aheadMs));
  return [check?.state, check?.finding.replace(`${url} answers; its clock is `, '')];
}

test.each([
  [0, 'ok', '0.5'],
  [500, 'ok', '0.0'],
  [2_500, 'ok', '-2.0'],
  [2_501, 'warn', '-2.0'],
  [-1_500, 'ok', '2.0'],
  [-1_501, 'warn', '2.0'],
])('a machine %i ms ahead of the second in the header: %s', async (aheadMs, state, seconds) => {
  expect(await checkAt(aheadMs)).toEqual([state, `${seconds} s from this machine's`]);
});

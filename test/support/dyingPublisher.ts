/**
 * A program that fills its outbox while NATS is away, prints the number of messages that it published, and waits to be
 * killed. Arguments: the server's URL, the data directory.
 */
import { connectCluster } from '../../src/bus/nats/connectCluster.ts';
import { sleep, systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { tradeOf } from './streamTrades.ts';

const [url = '', dataDir = ''] = process.argv.slice(2);
const KIB = 1024;

const { stream } = await connectCluster({
  url,
  dataDir,
  sender: 'dying',
  run: '1',
  outboxBytesMax: 256 * KIB,
  clock: systemClock,
  log: silentLogger,
  metrics: new Metrics(),
  random: () => 0.5,
});
let published = 0;
while (!stream.reasons().some((reason) => reason.includes('outbox is full'))) {
  for (let i = 0; i < 10; i++) stream.publish(tradeOf('market', `t${++published}`));
  await sleep(systemClock, 10);
}
// The outbox is on disk after the next ticks.
await sleep(systemClock, 500);
process.stdout.write(`${published}\n`);
await new Promise(() => undefined);

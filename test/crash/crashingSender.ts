/**
 * A process that accepts opportunities and sends them until it is killed. Before each attempt it notes the delivery's
 * id in a file, so that accepted deliveries are known outside of the database too. Usage: DATA_DIR CA_FILE NOTES_FILE
 * FIRST_EVENT (or `drain`: sends pending deliveries and exits)
 */
import { randomBytes } from 'node:crypto';
import { openSync, readFileSync, writeSync } from 'node:fs';
import { openControlDatabase } from '../../src/controlDatabase.ts';
import { systemClock as clock, every, sleep } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { WebhookDirectory } from '../../src/webhooks/delivery/directory.ts';
import { Dispatcher } from '../../src/webhooks/delivery/dispatcher.ts';
import { WebhookSender } from '../../src/webhooks/delivery/sender.ts';
import { ALONE } from '../../src/webhooks/delivery/soleSender.ts';
import { openWebhooks } from '../../src/webhooks/delivery/webhooks.ts';
import { FOLLOWED } from '../support/followed.ts';
import { opportunity } from '../support/opportunity.ts';

const [dataDir, caFile, notesFile, first] = process.argv.slice(2) as [string, string, string, string];
const EVENTS_PER_ROUND = 3;
const ROUND_MS = 2;
const DRAIN_LIMIT_MS = 120_000;

const db = await openControlDatabase({ dataDir, databaseUrl: null });
const { guard, box } = openWebhooks(db, {
  config: { dataDir, secretKey: null, webhookAllowedNetworks: ['127.0.0.0/8'], ...FOLLOWED },
  sources: { clock, randomBytes },
});
const notes = openSync(notesFile, 'a');
const sender = new WebhookSender({ clock, guard, ca: readFileSync(caFile, 'utf8') });
const dispatcher = new Dispatcher({
  ...{ db, clock, random: Math.random, log: silentLogger, metrics: new Metrics() },
  directory: new WebhookDirectory({ box, clock }),
  sender: {
    attempt: (webhook, delivery) => {
      writeSync(notes, `${delivery.deliveryId}\n`);
      return sender.attempt(webhook, delivery);
    },
    forget: (webhookId) => sender.forget(webhookId),
    close: () => sender.close(),
  },
  soleSender: ALONE,
});
await dispatcher.start();
process.stdout.write('ready\n');

if (first === 'drain') {
  const deadline = clock.monotonic() + DRAIN_LIMIT_MS;
  for (;;) {
    const pending = db.selectFrom('webhook_deliveries').select('delivery_id').where('state', '=', 'pending');
    if ((await pending.limit(1).execute()).length === 0 || clock.monotonic() > deadline) break;
    await sleep(clock, 100);
  }
  await dispatcher.close();
  await db.destroy();
} else {
  let n = Number(first);
  every(clock, ROUND_MS, () => {
    for (let i = 0; i < EVENTS_PER_ROUND; i++)
      dispatcher.enqueue(opportunity({ nowMs: clock.now(), n: n++ }));
  });
}

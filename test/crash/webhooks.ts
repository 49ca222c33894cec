/** Kills a sending process repeatedly, and counts the deliveries that its receivers never got. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserRepository } from '../../src/accounts/users/users.ts';
import { openControlDatabase } from '../../src/controlDatabase.ts';
import { systemClock as clock, sleep } from '../../src/runtime/clock.ts';
import { openWebhooks } from '../../src/webhooks/delivery/webhooks.ts';
import { FOLLOWED } from '../support/followed.ts';
import { makeCertificate, WebhookReceiver } from '../support/webhookReceiver.ts';

const WEBHOOKS = 3;
/** Share of replies that fail, so that retries also happen across kills. */
const FAILING_SHARE = 0.02;
/** Length of a life in deliveries: from none to as many as arrive in a few tenths of a second. */
const LIFE_DELIVERIES_MAX = 200;
/** Additional random time, so that not every kill coincides with a delivery. */
const LIFE_MS_MAX = 20;
const EVENTS_PER_LIFE_MAX = 100_000;

interface CrashResult {
  readonly kills: number;
  /** Deliveries with a committed row or an observed attempt. */
  readonly accepted: number;
  readonly received: number;
  /** Accepted but never received, and not skipped by the pause of their webhook. */
  readonly lost: number;
  /** Never received because their webhook failed ten times in a row: on a very busy machine attempts time out. */
  readonly skipped: number;
  /** Copies beyond the first, each with the id of the first. */
  readonly duplicates: number;
  /** Ids that arrived with two bodies, or bodies that arrived under two ids at one webhook. */
  readonly mixedUp: number;
  readonly pending: number;
}

/** @param script The built `crashingSender.ts`. */
export async function crashWebhooks(options: {
  kills: number;
  script: string;
  random: () => number;
  progress?: (kills: number) => void;
}): Promise<CrashResult> {
  const { kills, script, random } = options;
  const dataDir = mkdtempSync(join(tmpdir(), 'underround-crash-'));
  const files = { ca: join(dataDir, 'ca.pem'), notes: join(dataDir, 'notes.txt') };
  const certificate = makeCertificate();
  writeFileSync(files.ca, certificate.cert);
  writeFileSync(files.notes, '');
  const receiver = await new WebhookReceiver(certificate).listen();
  receiver.respond = (response) => void response.writeHead(random() < FAILING_SHARE ? 500 : 200).end();
  await register(dataDir, receiver);
  const start = async (first: string) => {
    const child = spawn(process.execPath, [script, dataDir, files.ca, files.notes, first], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    await Promise.race([once(child.stdout, 'data'), ended]);
    return { child, ended };
  };
  for (let kill = 0; kill < kills; kill++) {
    const { child, ended } = await start(String(kill * EVENTS_PER_LIFE_MAX));
    const wanted = receiver.received.length + Math.floor(random() * LIFE_DELIVERIES_MAX);
    while (receiver.received.length < wanted && child.exitCode === null && child.signalCode === null)
      await sleep(clock, 1);
    await sleep(clock, random() * LIFE_MS_MAX);
    child.kill('SIGKILL');
    await ended;
    options.progress?.(kill + 1);
  }
  await (await start('drain')).ended;
  const result = await compare({ dataDir, receiver, notes: files.notes });
  await receiver.close();
  if (result.lost === 0) rmSync(dataDir, { recursive: true, force: true });
  else console.error(`the rows of what was lost are in ${dataDir}`);
  return { kills, ...result };
}

async function register(dataDir: string, receiver: WebhookReceiver): Promise<void> {
  const db = await openControlDatabase({ dataDir, databaseUrl: null });
  const sources = { clock, randomBytes };
  const { userId } = await new UserRepository(db, sources).create('a@example.com', 'premium');
  const config = { dataDir, secretKey: null, webhookAllowedNetworks: ['127.0.0.0/8'], ...FOLLOWED };
  const { registry } = openWebhooks(db, { config, sources });
  for (let n = 0; n < WEBHOOKS; n++) {
    const url = `https://127.0.0.1:${receiver.port}/${n}`;
    await registry.create({ userId, url, label: String(n), tiers: null, tickers: null });
  }
  await db.destroy();
}

async function compare(facts: { dataDir: string; receiver: WebhookReceiver; notes: string }) {
  const db = await openControlDatabase({ dataDir: facts.dataDir, databaseUrl: null });
  const rows = await db.selectFrom('webhook_deliveries').select(['delivery_id', 'state']).execute();
  await db.destroy();
  const tried = readFileSync(facts.notes, 'utf8').split('\n').filter(Boolean);
  const accepted = new Set([...rows.map(({ delivery_id }) => delivery_id), ...tried]);
  const contents = new Map<string, string>();
  const ids = new Map<string, string>();
  let mixedUp = 0;
  for (const { url, headers, body } of facts.receiver.received) {
    const id = String(headers['webhook-id']);
    const content = `${url} ${body}`;
    if ((contents.get(id) ?? content) !== content || (ids.get(content) ?? id) !== id) mixedUp++;
    contents.set(id, content);
    ids.set(content, id);
  }
  const stateOf = new Map(rows.map(({ delivery_id, state }) => [delivery_id, state]));
  const missing = [...accepted].filter((id) => !contents.has(id));
  const skipped = missing.filter((id) => stateOf.get(id) === 'skipped').length;
  return {
    accepted: accepted.size,
    received: contents.size,
    lost: missing.length - skipped,
    skipped,
    duplicates: facts.receiver.received.length - contents.size,
    mixedUp,
    pending: rows.filter(({ state }) => state === 'pending').length,
  };
}

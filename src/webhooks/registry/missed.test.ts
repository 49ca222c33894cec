import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { FOLLOWED } from '../../../test/support/followed.ts';
import { openTestWebhooks, replied, type TestWebhooks } from '../../../test/support/webhooks.ts';
import { silentLogger } from '../../runtime/log.ts';
import type { Detection } from '../../signals/detection.ts';
import { startWebhooks } from '../delivery/service.ts';
import { missedOpportunities } from './missed.ts';

/** Stores an opportunity in the audit, as a process that died before it was accepted. */
async function audit(
  { db, clock }: TestWebhooks,
  seq: number,
  facts: Partial<Detection> = {},
): Promise<void> {
  const nowMs = clock.now();
  const detection = {
    ...{
      auditId: `au_${seq}`,
      detectedMs: nowMs,
      marketId: `0x${seq}`,
      slug: `slug-${seq}`,
      ticker: 'BTC',
    },
    ...{
      eventType: '5m',
      endMs: nowMs + 60_000,
      tier: 'logical',
      confidence: 'stable',
      direction: 'BUY_BOTH',
    },
    ...{
      fillPrice: 0.95,
      fillSpread: 0.06,
      feePerShare: 0.03,
      evPerShare: 0.02,
      modelYesProb: 0.5,
      tauSeconds: 60,
    },
    ...facts,
  } as Detection;
  const { auditId: audit_id, marketId: market_id, tier, ticker, eventType: event_type } = detection;
  const entry = { seq, audit_id, kind: 'detected', at_ms: nowMs, body: JSON.stringify(detection) } as const;
  await db
    .insertInto('audit_entries')
    .values({ ...entry, prev_hash: `p${seq}`, hash: `h${seq}` })
    .execute();
  const times = { detected_ms: nowMs, end_ms: detection.endMs, executable_ms: null, resolved_ms: null };
  const row = {
    audit_id,
    seq,
    market_id,
    tier,
    ticker,
    event_type,
    ...times,
    model_ev: 0.02,
    realized: null,
  };
  await db.insertInto('audit_rows').values(row).execute();
}

it('an opportunity audited but not accepted is found at the next start, and sent once', async () => {
  const t = await openTestWebhooks();
  await t.register();
  await t.clock.advance(10);
  const nowMs = t.clock.now();
  const audited = (seq: number, facts: Partial<Detection> = {}) => audit(t, seq, facts);
  await audited(1);
  await audited(2, { tier: 'endgame', direction: 'BUY_YES' });
  await audited(3, { endMs: nowMs });
  await audited(4, { tier: 'stable' as 'logical' });
  for (let seq = 100; seq < 200; seq++) await audited(seq);
  const slugs: string[] = [];
  const sender = {
    attempt: async (_: unknown, { body }: { body: Buffer }) => {
      slugs.push(JSON.parse(String(body)).polymarket_slug);
      return replied(200, t.clock);
    },
  };
  for (let start = 0; start < 2; start++) {
    const dispatcher = await t.dispatcher(sender);
    const missed = await missedOpportunities(t.db, nowMs);
    expect(missed.map(({ tier }) => tier)).toEqual(['logical', 'endgame', ...Array(100).fill('logical')]);
    for (const opportunity of missed) dispatcher.enqueue(opportunity);
    await t.clock.advance(100);
  }
  expect([slugs.length, new Set(slugs).size]).toEqual([102, 102]);
});

it('the service sends at its start what the process before it missed', async () => {
  const t = await openTestWebhooks({ allowed: ['127.0.0.0/8'] });
  const { webhookId } = await t.register({ url: 'https://127.0.0.1:1/in' });
  await audit(t, 1);
  const config = { dataDir: t.dataDir, databaseUrl: null, secretKey: '1'.repeat(64) };
  const service = await startWebhooks({
    config: { ...config, webhookAllowedNetworks: ['127.0.0.0/8'], ...FOLLOWED },
    ...{ database: t.db, bus: { subscribe: () => () => undefined }, clock: t.clock, random: () => 0.5 },
    ...{ randomBytes, log: silentLogger, metrics: t.metrics },
  });
  onTestFinished(() => service.close());
  const range = { startMs: null, endMs: null, state: null };
  await expect.poll(() => service.log.count(webhookId, range)).toBe(1);
});

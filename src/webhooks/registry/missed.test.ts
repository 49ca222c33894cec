import { expect, it } from 'vitest';
import { openTestWebhooks, replied } from '../../../test/support/webhooks.ts';
import type { Detection } from '../../signals/detection.ts';
import { missedOpportunities } from './missed.ts';

it('an opportunity audited but not accepted is found at the next start, and sent once', async () => {
  const t = await openTestWebhooks();
  await t.register();
  await t.clock.advance(10);
  const nowMs = t.clock.now();
  const audited = async (seq: number, facts: Partial<Detection> = {}) => {
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
    await t.db
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
    await t.db.insertInto('audit_rows').values(row).execute();
  };
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

import { expect, it } from 'vitest';
import { DELIVERY } from '../../../test/support/deliveryQueues.ts';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { replied } from '../../../test/support/webhooks.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { DeliveryMeter } from './meter.ts';

it('counts attempts by outcome and deliveries by state, and logs what a retry needs, without the URL', async () => {
  const metrics = new Metrics();
  const clock = new FakeClock();
  const lines: unknown[][] = [];
  const kept = (level: string) => (line: object, event: string) => void lines.push([level, event, line]);
  const log = { ...silentLogger, info: kept('info'), warn: kept('warn') } as never;
  const meter = new DeliveryMeter({ log, metrics });
  const delivery = { ...DELIVERY, attempts: 2, dueMs: 9 };
  meter.attempted({ ...replied(200, clock), latencyMs: 4 }, { delivery, state: 'delivered', rowDueMs: 0 });
  meter.attempted({ ...replied(500, clock), latencyMs: 300 }, { delivery, state: 'pending', rowDueMs: 0 });
  meter.settled('delivered');
  meter.settled('expired');
  meter.paused('wh_1');
  meter.held(9);
  meter.held(7);
  meter.sends(true);
  const text = await metrics.registry.metrics();
  const values = text
    .split('\n')
    .filter((line) => line.startsWith('underround_') && !line.includes('_bucket'));
  expect(values).toEqual([
    'underround_webhook_attempts_total{outcome="delivered"} 1',
    'underround_webhook_attempts_total{outcome="refused"} 1',
    'underround_webhook_attempt_seconds_sum 0.304',
    'underround_webhook_attempt_seconds_count 2',
    'underround_webhook_deliveries_total{state="delivered"} 1',
    'underround_webhook_deliveries_total{state="expired"} 1',
    'underround_webhook_paused_total 1',
    'underround_webhook_held 7',
    'underround_webhook_sending 1',
  ]);
  const bounds = [...text.matchAll(/_bucket\{le="([^"]+)"\} (\d)/g)].map(([, le, count]) => `${le} ${count}`);
  expect(bounds).toEqual([
    ...[
      '0.005 1',
      '0.01 1',
      '0.025 1',
      '0.05 1',
      '0.1 1',
      '0.25 1',
      '0.5 2',
      '1 2',
      '2.5 2',
      '5 2',
      '+Inf 2',
    ],
  ]);
  const ids = { webhookId: 'wh_1', deliveryId: 'dl_1', attempt: 2 };
  expect(lines).toEqual([
    [
      'info',
      'delivery.attempted',
      { ...ids, outcome: 'delivered', status: 200, latencyMs: 4, next: 'delivered' },
    ],
    [
      'warn',
      'delivery.attempted',
      {
        ...ids,
        outcome: 'refused',
        status: 500,
        latencyMs: 300,
        next: 'pending',
        error: 'status 500',
        dueMs: 9,
      },
    ],
    ['warn', 'webhook.paused', { webhookId: 'wh_1' }],
    ['info', 'webhooks.sender_decided', { isUs: true }],
  ]);
  meter.sends(false);
  expect(await metrics.registry.getSingleMetricAsString('underround_webhook_sending')).toMatch(/ 0$/);
});

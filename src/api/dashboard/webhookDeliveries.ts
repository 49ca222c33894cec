import { type CursorScope, decodeCursor, encodeCursor } from '../../http/cursor.ts';
import { conflict, notFound, tooManyRequests } from '../../http/refusal.ts';
import { type RawRequest, type Route, route } from '../../http/route.ts';
import { printRows, rowsObject } from '../../http/rowPages.ts';
import { checkRange } from '../../http/rows.ts';
import type { Clock } from '../../runtime/clock.ts';
import { InvalidInputError, TooManySendsError } from '../../runtime/errors.ts';
import { optional, required } from '../../schema/api/fields.ts';
import { cursor, end, limit, start } from '../../schema/api/parameters.ts';
import { literal, text } from '../../schema/api/types.ts';
import {
  webhookDeliveryDetailShape,
  webhookDeliveryListShape,
  webhookQueuedRangeShape,
  webhookQueuedShape,
  webhookSummaryShape,
} from '../../schema/api/webhookResources.ts';
import { REDELIVERIES_PER_MINUTE, TESTS_PER_MINUTE } from '../../webhooks/delivery/sendQuotas.ts';
import type { WebhookControl } from '../../webhooks/delivery/webhooks.ts';
import type { LoggedDelivery } from '../../webhooks/registry/deliveryLog.ts';
import type { Webhook } from '../../webhooks/registry/registration.ts';
import { DELIVERY_FILTERS } from '../../webhooks/schemaWebhooks.ts';
import {
  LISTED_HEAD_LENGTH,
  redeliverBody,
  toDeliveryDetailJson,
  toListedDeliveryJson,
  toSummaryJson,
} from './webhookBodies.ts';
import { ownWebhook, unknownWebhook, webhookPath } from './webhooks.ts';

interface DeliveryDependencies {
  readonly webhooks: Pick<WebhookControl, 'registry' | 'log' | 'reports' | 'wake'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Each has up to 60 KiB of attempts. */
export const DELIVERIES_A_TURN = 50;
const DELIVERY_ID_TIE = /^dl_[0-9a-f]+$/;
const PATH = '/app/webhooks/{webhook_id}';
const deliveryPath = { ...webhookPath, delivery_id: required(text(), '`delivery_id` from the delivery log') };
const SHARED = { auth: 'session', access: { feature: null } } as const;

/** How each delivery went, and sending it again. */
export function webhookDeliveryRoutes(parts: DeliveryDependencies): Route[] {
  return [testRoute(parts), logRoute(parts), ...reportRoutes(parts), ...redeliverRoutes(parts)];
}

function testRoute(parts: DeliveryDependencies): Route {
  return route({
    ...{ method: 'POST', path: `${PATH}/test`, ...SHARED, pathFields: webhookPath },
    summary: `Send a test event with a non-existent market; at most ${TESTS_PER_MINUTE} per minute`,
    description: 'The delivery log shows the outcome.',
    success: 202,
    response: webhookQueuedShape,
    refusals: [409, 429],
    handle: async (request) => {
      const webhook = await find(parts, request);
      const deliveryId = await admitted(parts.webhooks.log.sendTest(webhook));
      parts.webhooks.wake();
      return { status: 202, body: JSON.stringify({ delivery_id: deliveryId }) };
    },
  });
}

function logRoute(parts: DeliveryDependencies): Route {
  return route({
    ...{ method: 'GET', path: `${PATH}/deliveries`, ...SHARED, pathFields: webhookPath },
    summary: 'Delivery log, newest first; kept for seven days, or less if it is long',
    description: `Of each reply the first ${LISTED_HEAD_LENGTH} characters; one delivery has more.`,
    query: {
      start,
      end,
      state: optional(
        literal(DELIVERY_FILTERS),
        'Only deliveries in this state; `undelivered`: failed, skipped or expired',
      ),
      limit: limit(100, 1000),
      cursor,
    },
    response: webhookDeliveryListShape,
    handle: async (request) => {
      const { limit: most, state, start: startMs, end: endMs } = request.query;
      checkRange(startMs, endMs);
      const scope: CursorScope = ['webhook_deliveries', request.path.webhook_id, startMs, endMs, state];
      const place = decodeCursor(scope, request.query.cursor, DELIVERY_ID_TIE);
      const { webhookId } = await find(parts, request);
      const range = { startMs, endMs, state };
      if (most === 0) {
        const count = await parts.webhooks.log.count(webhookId, range);
        return { body: JSON.stringify({ count, deliveries: [], next_cursor: null }) };
      }
      const after = place && { createdMs: place.timeMs, deliveryId: place.tie };
      const printed = await printRows<LoggedDelivery>({
        limit: most,
        rowsATurn: DELIVERIES_A_TURN,
        read: (limit, last) => parts.webhooks.log.page(webhookId, { limit, after: last ?? after, range }),
        print: (delivery) => JSON.stringify(toListedDeliveryJson(delivery)),
      });
      const last = printed.next;
      const next = last && encodeCursor(scope, { timeMs: last.createdMs, tie: last.deliveryId });
      const around = {
        head: JSON.stringify({ count: printed.count }),
        tail: JSON.stringify({ next_cursor: next }),
      };
      return { body: rowsObject('deliveries', printed, around) };
    },
  });
}

function reportRoutes(parts: DeliveryDependencies): Route[] {
  return [
    route({
      ...{ method: 'GET', path: `${PATH}/deliveries/{delivery_id}`, ...SHARED, pathFields: deliveryPath },
      summary: 'One delivery with its payload and headers',
      response: webhookDeliveryDetailShape,
      handle: async (request) => {
        const { webhookId, format } = await find(parts, request);
        const found = await parts.webhooks.reports.find(webhookId, request.path.delivery_id);
        if (found === null) throw notFound('Delivery not found');
        return { body: JSON.stringify(toDeliveryDetailJson(found, format)) };
      },
    }),
    route({
      ...{ method: 'GET', path: `${PATH}/summary`, ...SHARED, pathFields: webhookPath },
      summary: 'Success rate, latency and undelivered events of the last seven days',
      response: webhookSummaryShape,
      handle: async (request) => {
        const { webhookId } = await find(parts, request);
        const summary = await parts.webhooks.reports.summary(webhookId, parts.clock.now());
        return { body: JSON.stringify(toSummaryJson(summary)) };
      },
    }),
  ];
}

function redeliverRoutes(parts: DeliveryDependencies): Route[] {
  return [
    route({
      ...{ method: 'POST', path: `${PATH}/deliveries/{delivery_id}/redeliver`, ...SHARED },
      summary: 'Send one delivery again, under the same id',
      pathFields: deliveryPath,
      success: 202,
      response: webhookQueuedShape,
      refusals: [409, 429],
      handle: async (request) => {
        const webhook = await find(parts, request);
        const { delivery_id } = request.path;
        if (!(await admitted(parts.webhooks.log.redeliver(webhook, delivery_id)))) {
          throw notFound('Delivery not found');
        }
        parts.webhooks.wake();
        return { status: 202, body: JSON.stringify({ delivery_id }) };
      },
    }),
    route({
      ...{ method: 'POST', path: `${PATH}/redeliver`, ...SHARED, pathFields: webhookPath },
      summary: `Send a range of deliveries again, oldest first; at most ${REDELIVERIES_PER_MINUTE} deliveries per minute`,
      description:
        '`count` is the number of deliveries that are sent again; the others in the range do not change.',
      body: redeliverBody,
      success: 202,
      response: webhookQueuedRangeShape,
      refusals: [400, 409, 429],
      handle: async (request) => {
        const { start: startMs, end: endMs, state } = request.body;
        checkRange(startMs, endMs);
        const webhook = await find(parts, request);
        const count = await admitted(parts.webhooks.log.redeliverRange(webhook, { startMs, endMs, state }));
        parts.webhooks.wake();
        return { status: 202, body: JSON.stringify({ count }) };
      },
    }),
  ];
}

async function find(
  parts: DeliveryDependencies,
  request: Pick<RawRequest, 'session'> & { path: { webhook_id: string } },
): Promise<Webhook> {
  const found = await parts.webhooks.registry.find(ownWebhook(request));
  if (found === null) throw unknownWebhook();
  return found;
}

async function admitted<T>(work: Promise<T>): Promise<T> {
  return await work.catch((error: unknown) => {
    if (error instanceof TooManySendsError) throw tooManyRequests(error.message, error.retryAfterSeconds);
    throw error instanceof InvalidInputError ? conflict('The webhook is paused; resume it first') : error;
  });
}

import { conflict, forbidden, invalid, notFound, tooManyRequests } from '../../http/refusal.ts';
import { type RawRequest, type Route, route } from '../../http/route.ts';
import {
  InvalidInputError,
  OperatorOnlyError,
  TooManyLookupsError,
  TooManySecretsError,
  UnsignedWebhookError,
} from '../../runtime/errors.ts';
import { MASK } from '../../schema/api/body.ts';
import { required } from '../../schema/api/fields.ts';
import { text } from '../../schema/api/types.ts';
import {
  newWebhookShape,
  webhookListShape,
  webhookShape,
  webhookWithSecretShape,
} from '../../schema/api/webhookResources.ts';
import type { FollowedAssets } from '../../schema/market.ts';
import type { WebhookControl } from '../../webhooks/delivery/webhooks.ts';
import type { Webhook } from '../../webhooks/registry/registration.ts';
import { MAX_WEBHOOKS_PER_USER, type WebhookName } from '../../webhooks/registry/registry.ts';
import { signedIn } from './signedIn.ts';
import { newWebhookBody, toWebhookJson, webhookChangeBody } from './webhookBodies.ts';

interface WebhookDependencies extends FollowedAssets {
  readonly webhooks: Pick<WebhookControl, 'registry' | 'wake'>;
}

export const webhookPath = { webhook_id: required(text(), '`webhook_id` from the list of webhooks') };

/** The webhook a request names, restricted to the signed-in user's own. */
export function ownWebhook(
  request: Pick<RawRequest, 'session'> & { path: { webhook_id: string } },
): Required<WebhookName> {
  return { webhookId: request.path.webhook_id, userId: signedIn(request).user.userId };
}

/** A user's own webhooks. */
export function webhookRoutes(parts: WebhookDependencies): Route[] {
  return [...collectionRoutes(parts), ...singleRoutes(parts), ...switchRoutes(parts), rotateRoute(parts)];
}

function collectionRoutes(parts: WebhookDependencies): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/webhooks',
      auth: 'session',
      access: { feature: null },
      summary: 'List the user’s webhooks, oldest first',
      response: webhookListShape,
      handle: async (request) => {
        const { userId } = signedIn(request).user;
        const webhooks = (await parts.webhooks.registry.list({ userId })).map(toWebhookJson);
        return { body: JSON.stringify({ webhooks, count: webhooks.length }) };
      },
    }),
    route({
      method: 'POST',
      path: '/app/webhooks',
      auth: 'session',
      // Checked at registration only: an existing webhook keeps working when the user's tier changes.
      access: { feature: 'webhooks' },
      summary: 'Register a webhook; only this response contains its secret',
      body: newWebhookBody(parts.tickers),
      success: 201,
      response: newWebhookShape,
      handle: async (request) => {
        const { userId } = signedIn(request).user;
        const { url, format } = request.body;
        const issued = await parts.webhooks.registry
          .create({ userId, ...request.body })
          .catch((error: unknown) => {
            if (error instanceof OperatorOnlyError) throw forbidden(error.message);
            if (error instanceof TooManyLookupsError) {
              throw tooManyRequests(error.message, error.retryAfterSeconds);
            }
            // The URL of a chat is a secret.
            const shown = format === 'signed' ? url : MASK;
            throw error instanceof InvalidInputError ? invalidUrl(shown, error.message) : error;
          });
        if (!issued) throw forbidden(`At most ${MAX_WEBHOOKS_PER_USER} webhooks at once; delete one first`);
        const shown = { ...toWebhookJson(issued.webhook), secret: issued.secret };
        return { status: 201, body: JSON.stringify(shown) };
      },
    }),
  ];
}

function singleRoutes(parts: WebhookDependencies): Route[] {
  const path = '/app/webhooks/{webhook_id}';
  const shared = { auth: 'session', access: { feature: null }, pathFields: webhookPath } as const;
  return [
    route({
      ...{ method: 'GET', path, ...shared },
      summary: 'Get one webhook',
      response: webhookShape,
      handle: async (request) => {
        const found = await parts.webhooks.registry.find(ownWebhook(request));
        if (found === null) throw unknownWebhook();
        return answer(found);
      },
    }),
    route({
      ...{ method: 'PATCH', path, ...shared },
      summary: 'Change label or filters; omitted fields do not change',
      body: webhookChangeBody(parts.tickers),
      response: webhookShape,
      handle: async (request) => {
        const { label, tiers, tickers, events } = request.body;
        const change = {
          ...(label === undefined ? {} : { label }),
          ...(tiers === undefined ? {} : { tiers }),
          ...(tickers === undefined ? {} : { tickers }),
          ...(events === undefined ? {} : { events }),
        };
        return answer(await known(parts.webhooks.registry.update(ownWebhook(request), change)));
      },
    }),
    route({
      ...{ method: 'DELETE', path, ...shared },
      summary: 'Delete a webhook and its delivery log; pending deliveries are not sent',
      success: 204,
      response: null,
      handle: async (request) => {
        await known(parts.webhooks.registry.delete(ownWebhook(request)));
        parts.webhooks.wake();
        return { status: 204, body: '' };
      },
    }),
  ];
}

function switchRoutes(parts: WebhookDependencies): Route[] {
  const one = (verb: 'pause' | 'resume', summary: string) =>
    route({
      method: 'POST',
      path: `/app/webhooks/{webhook_id}/${verb}`,
      auth: 'session',
      access: { feature: null },
      summary,
      pathFields: webhookPath,
      response: webhookShape,
      handle: async (request) => {
        const webhook = await known(parts.webhooks.registry[verb](ownWebhook(request)));
        parts.webhooks.wake();
        return answer(webhook);
      },
    });
  return [
    one('pause', 'Pause a webhook; pending deliveries are skipped'),
    one('resume', 'Resume a webhook: sends signals detected from now on and resets the failure count'),
  ];
}

function rotateRoute(parts: WebhookDependencies): Route {
  return route({
    method: 'POST',
    path: '/app/webhooks/{webhook_id}/rotate',
    auth: 'session',
    access: { feature: null },
    summary:
      'Create a new secret, contained only in this response; the old secret also signs for 24 more hours',
    description:
      'During that time `webhook-signature` contains a signature for each secret; `X-SVC-Signature` uses the newest.',
    refusals: [409],
    pathFields: webhookPath,
    response: webhookWithSecretShape,
    handle: async (request) => {
      const rotated = parts.webhooks.registry.rotate(ownWebhook(request)).catch((error: unknown) => {
        const isRefused = error instanceof TooManySecretsError || error instanceof UnsignedWebhookError;
        throw isRefused ? conflict(error.message) : error;
      });
      const { secret, webhook } = await known(rotated);
      // Pending retries are signed with the new secret too.
      parts.webhooks.wake();
      return { body: JSON.stringify({ ...toWebhookJson(webhook), secret }) };
    },
  });
}

export function unknownWebhook() {
  return notFound('Webhook not found');
}

async function known<T>(work: Promise<T>): Promise<T> {
  return await work.catch((error: unknown) => {
    if (error instanceof OperatorOnlyError) throw forbidden(error.message);
    throw error instanceof InvalidInputError ? unknownWebhook() : error;
  });
}

function answer(webhook: Webhook) {
  return { body: JSON.stringify(toWebhookJson(webhook)) };
}

/** Reports the URL like any other invalid field. */
function invalidUrl(input: string, reason: string) {
  return invalid([
    { type: 'value_error', loc: ['body', 'url'], msg: `Value error, ${reason}`, input, ctx: { error: {} } },
  ]);
}

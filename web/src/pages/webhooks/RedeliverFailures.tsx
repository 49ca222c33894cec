import { Alert, Button, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAction } from '../../api/hooks.ts';
import type { Webhook, WebhookSummary } from '../../api/schema.ts';
import { moment, number } from '../../ui/format.ts';

const OUTDATED = [
  ...(['GET /app/webhooks', 'GET /app/webhooks/{webhook_id}'] as const),
  ...(['GET /app/webhooks/{webhook_id}/deliveries', 'GET /app/webhooks/{webhook_id}/summary'] as const),
] as const;

/** Says since when deliveries fail, and sends everything since then again; nothing if all were delivered. */
export function RedeliverFailures({ hook, summary }: { hook: Webhook; summary: WebhookSummary }): ReactNode {
  const path = { webhook_id: hook.webhook_id };
  const resume = useAction('POST /app/webhooks/{webhook_id}/resume', OUTDATED);
  const again = useAction('POST /app/webhooks/{webhook_id}/redeliver', OUTDATED);
  const { failing_since: since, undelivered_since_failing: count } = summary;
  const isPaused = hook.state === 'paused';
  if (since === null && again.data === undefined) return null;
  const send = () => again.mutate({ path, body: { state: 'undelivered', start: since } });
  const begin = () => (isPaused ? resume.mutate({ path }, { onSuccess: send }) : send());
  const queued = again.data?.count;
  const error = resume.error ?? again.error;
  return (
    <Alert
      color={since === null ? 'teal' : 'orange'}
      title={
        since === null
          ? 'Everything is queued again'
          : `${number(count)} ${count === 1 ? 'event was' : 'events were'} not delivered since ${moment(since)} UTC`
      }
      role="region"
      aria-label="Undelivered events"
    >
      <Group justify="space-between" gap="sm">
        <Text size="sm" role="status">
          {error?.message ??
            (queued === undefined
              ? 'Events are sent again under the same id, oldest first, at most 100 a minute.'
              : `${number(queued)} queued for redelivery.${since === null ? '' : ' Send the others in a minute.'}`)}
        </Text>
        {since !== null && (
          <Button size="xs" loading={resume.isPending || again.isPending} onClick={begin}>
            {isPaused ? 'Resume and redeliver' : 'Redeliver'} everything since then
          </Button>
        )}
      </Group>
    </Alert>
  );
}

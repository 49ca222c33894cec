import { Alert, Badge, Button, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useAction } from '../../api/hooks.ts';
import type { Webhook } from '../../api/schema.ts';
import { moment } from '../../ui/format.ts';
import { Copyable } from '../../ui/Secret.tsx';
import { Deliveries } from './Deliveries.tsx';
import { EditWebhook } from './EditWebhook.tsx';

/** One webhook: how it fares, and everything that can be done with it. */
export function WebhookCard({ hook }: { hook: Webhook }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [isEdited, setEdited] = useState(false);
  const path = { webhook_id: hook.webhook_id };
  const lists = ['GET /app/webhooks', 'GET /app/webhooks/{webhook_id}/deliveries'] as const;
  const pause = useAction('POST /app/webhooks/{webhook_id}/pause', lists);
  const resume = useAction('POST /app/webhooks/{webhook_id}/resume', lists);
  const rotate = useAction('POST /app/webhooks/{webhook_id}/rotate', lists);
  const test = useAction('POST /app/webhooks/{webhook_id}/test', lists);
  const remove = useAction('DELETE /app/webhooks/{webhook_id}', ['GET /app/webhooks']);
  const error = [pause, resume, rotate, test, remove]
    .map((action) => action.error)
    .find((one) => one !== null);
  return (
    <Stack className="card" p="md" gap="sm" component="section" aria-label={`Webhook ${hook.label}`}>
      <Group justify="space-between">
        <div>
          <Group gap="xs">
            <Text component="h2" fw={650}>
              {hook.label}
            </Text>
            <State hook={hook} />
          </Group>
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {hook.url} · {hook.tiers.join(', ')} · {hook.tickers?.join(', ') ?? 'all underlyings'}
          </Text>
        </div>
        <Group gap="xs">
          <Button size="xs" variant="default" loading={test.isPending} onClick={() => test.mutate({ path })}>
            Send a test
          </Button>
          {hook.state === 'paused' ? (
            <Button size="xs" loading={resume.isPending} onClick={() => resume.mutate({ path })}>
              Resume
            </Button>
          ) : (
            <Button
              size="xs"
              variant="default"
              loading={pause.isPending}
              onClick={() => pause.mutate({ path })}
            >
              Pause
            </Button>
          )}
          <Button
            size="xs"
            variant="default"
            loading={rotate.isPending}
            onClick={() => rotate.mutate({ path })}
          >
            New secret
          </Button>
          <Button
            size="xs"
            variant="default"
            loading={remove.isPending}
            onClick={() => remove.mutate({ path })}
          >
            Delete
          </Button>
          <Button size="xs" variant="default" onClick={() => setEdited(!isEdited)} aria-expanded={isEdited}>
            Edit
          </Button>
          <Button size="xs" variant="default" onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
            Deliveries
          </Button>
        </Group>
      </Group>
      {error !== undefined && <Alert color="red" role="alert" title={error?.message} />}
      {isEdited && <EditWebhook hook={hook} leave={() => setEdited(false)} />}
      {rotate.data !== undefined && (
        <Alert
          color="teal"
          title={`The new secret; the old one holds until ${moment(rotate.data.previous_secret_until)}`}
        >
          <Copyable text={rotate.data.secret} label="new webhook secret" />
        </Alert>
      )}
      {isOpen && <Deliveries webhookId={hook.webhook_id} />}
    </Stack>
  );
}

function State({ hook }: { hook: Webhook }): ReactNode {
  if (hook.state === 'paused') {
    return (
      <Badge color={hook.failing ? 'red.9' : 'gray.7'}>{hook.failing ? 'Failing, paused' : 'paused'}</Badge>
    );
  }
  return hook.failing ? (
    <Badge color="red.9">Failing ({hook.consecutive_failures} in a row)</Badge>
  ) : (
    <Badge color="teal.9">active</Badge>
  );
}

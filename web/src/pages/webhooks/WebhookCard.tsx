import { Alert, Badge, Button, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useAction } from '../../api/hooks.ts';
import type { Webhook, WebhookWithSecret } from '../../api/schema.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { moment } from '../../ui/format.ts';
import { Copyable } from '../../ui/Secret.tsx';
import { Deliveries } from './Deliveries.tsx';
import { EditWebhook } from './EditWebhook.tsx';

const LISTS = ['GET /app/webhooks', 'GET /app/webhooks/{webhook_id}/deliveries'] as const;

/** One webhook: its state and all its actions. */
export function WebhookCard({ hook }: { hook: Webhook }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [isEdited, setEdited] = useState(false);
  const [rotated, setRotated] = useState<WebhookWithSecret | null>(null);
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
            {factsOf(hook)}
          </Text>
        </div>
        <Group gap="xs">
          <Sending hook={hook} />
          <Button size="xs" variant="default" onClick={() => setEdited(!isEdited)} aria-expanded={isEdited}>
            Edit
          </Button>
          <Button size="xs" variant="default" onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
            Deliveries
          </Button>
          <Ending hook={hook} whenRotated={setRotated} />
        </Group>
      </Group>
      {isEdited && <EditWebhook hook={hook} leave={() => setEdited(false)} />}
      {rotated !== null && (
        <Alert
          color="teal"
          title={`New secret; the old one is valid until ${moment(rotated.previous_secret_until)}`}
        >
          <Copyable text={rotated.secret} label="new webhook secret" />
        </Alert>
      )}
      {isOpen && <Deliveries webhookId={hook.webhook_id} />}
    </Stack>
  );
}

function factsOf({ format, url, events, tiers, tickers }: Webhook): string {
  const sends = events.includes('opportunity')
    ? [tiers.join(', '), tickers?.join(', ') ?? 'all underlyings']
    : [];
  const faults = events.filter((event) => event !== 'opportunity').join(', ');
  const facts = [format === 'signed' ? '' : format, url, ...sends, faults];
  return facts.filter((fact) => fact !== '').join(' · ');
}

/** Actions that can be undone or change nothing. */
function Sending({ hook }: { hook: Webhook }): ReactNode {
  const path = { webhook_id: hook.webhook_id };
  const pause = useAction('POST /app/webhooks/{webhook_id}/pause', LISTS);
  const resume = useAction('POST /app/webhooks/{webhook_id}/resume', LISTS);
  const test = useAction('POST /app/webhooks/{webhook_id}/test', LISTS);
  const error = pause.error ?? resume.error ?? test.error;
  const turn = hook.state === 'paused' ? resume : pause;
  return (
    <>
      {error !== null && (
        <Text size="sm" role="alert">
          {error.message}
        </Text>
      )}
      <Button size="xs" variant="default" loading={test.isPending} onClick={() => test.mutate({ path })}>
        Send a test
      </Button>
      <Button
        size="xs"
        {...(hook.state === 'paused' ? {} : { variant: 'default' })}
        loading={turn.isPending}
        onClick={() => turn.mutate({ path })}
      >
        {hook.state === 'paused' ? 'Resume' : 'Pause'}
      </Button>
    </>
  );
}

/** Irreversible actions: a new secret breaks a receiver with the old one, and deleting removes the log. */
function Ending({
  hook,
  whenRotated,
}: {
  hook: Webhook;
  whenRotated: (rotated: WebhookWithSecret) => void;
}): ReactNode {
  const path = { webhook_id: hook.webhook_id };
  const rotate = useAction('POST /app/webhooks/{webhook_id}/rotate', LISTS);
  const remove = useAction('DELETE /app/webhooks/{webhook_id}', ['GET /app/webhooks']);
  const replace = (whenDone: () => void) =>
    rotate.mutate(
      { path },
      {
        onSuccess: (rotated) => {
          whenRotated(rotated);
          whenDone();
        },
      },
    );
  return (
    <>
      {hook.format === 'signed' && (
        <ConfirmButton
          verb="Replace secret"
          of={`of ${hook.label}`}
          isPending={rotate.isPending}
          error={rotate.error}
          act={replace}
        />
      )}
      <ConfirmButton
        verb="Delete"
        of={hook.label}
        isPending={remove.isPending}
        error={remove.error}
        act={() => remove.mutate({ path })}
      />
    </>
  );
}

function State({ hook }: { hook: Webhook }): ReactNode {
  const { state, failing, consecutive_failures: failures } = hook;
  if (state === 'paused') {
    return <Badge color={failing ? 'red.9' : 'gray.7'}>{failing ? 'Failing, paused' : 'paused'}</Badge>;
  }
  if (failures > 0) return <Badge color="red.9">Failing ({failures} consecutive failures)</Badge>;
  return <Badge color="teal.9">active</Badge>;
}

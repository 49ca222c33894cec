import { Button, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAction } from '../../api/hooks.ts';
import type { Webhook, WebhookWithSecret } from '../../api/schema.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';

const LISTS = [
  'GET /app/webhooks',
  'GET /app/webhooks/{webhook_id}',
  'GET /app/webhooks/{webhook_id}/deliveries',
  'GET /app/webhooks/{webhook_id}/summary',
] as const;

/** Actions that can be undone or change nothing. */
export function WebhookSending({ hook }: { hook: Webhook }): ReactNode {
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
export function WebhookEnding({
  hook,
  whenRotated,
}: {
  hook: Webhook;
  whenRotated: (rotated: WebhookWithSecret) => void;
}): ReactNode {
  const path = { webhook_id: hook.webhook_id };
  const navigate = useNavigate();
  const rotate = useAction('POST /app/webhooks/{webhook_id}/rotate', LISTS, { isShownOnce: true });
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
          consequence="Requests are signed with both secrets for 24 hours. The new one is shown once."
          act={replace}
        />
      )}
      <ConfirmButton
        verb="Delete"
        of={hook.label}
        isPending={remove.isPending}
        error={remove.error}
        consequence="Its log is deleted, and pending events are not sent."
        act={() => remove.mutate({ path }, { onSuccess: () => void navigate({ to: '/webhooks' }) })}
      />
    </>
  );
}

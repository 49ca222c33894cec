import { Badge, Button, Code, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAction, useApi } from '../../api/hooks.ts';
import type { WebhookDelivery, WebhookDeliveryDetail } from '../../api/schema.ts';
import { moment } from '../../ui/format.ts';
import { TableFrame } from '../../ui/frames.tsx';
import { RequestFailure } from '../../ui/RequestFailure.tsx';
import { failureText } from './failureText.ts';
import { replyText } from './replyText.ts';

const OUTDATED = [
  'GET /app/webhooks/{webhook_id}/deliveries',
  'GET /app/webhooks/{webhook_id}/deliveries/{delivery_id}',
  'GET /app/webhooks/{webhook_id}/summary',
] as const;

/** Payload, headers and every attempt of one delivery. */
export function DeliveryDetail({
  webhookId,
  delivery,
}: {
  webhookId: string;
  delivery: WebhookDelivery;
}): ReactNode {
  const path = { webhook_id: webhookId, delivery_id: delivery.delivery_id };
  const detail = useApi('GET /app/webhooks/{webhook_id}/deliveries/{delivery_id}', { path });
  const again = useAction('POST /app/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver', OUTDATED);
  const when = moment(delivery.detected_at);
  return (
    <Stack gap="md" py="xs">
      <Group gap="xs">
        <Button
          size="xs"
          loading={again.isPending}
          onClick={() => again.mutate({ path })}
          aria-label={`Redeliver ${when}`}
        >
          Redeliver
        </Button>
        <Text size="sm" role="status">
          {again.error?.message ?? (again.isSuccess && 'Queued for redelivery')}
        </Text>
      </Group>
      <Attempts delivery={delivery} when={when} />
      {detail.isPending && <TableFrame rows={3} columns={2} />}
      <RequestFailure of={detail} />
      {detail.data !== undefined && <Sent detail={detail.data} />}
    </Stack>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <Stack gap={4}>
      <Text component="h3" size="sm" fw={600}>
        {title}
      </Text>
      {children}
    </Stack>
  );
}

function Sent({ detail: { headers, payload } }: { detail: WebhookDeliveryDetail }): ReactNode {
  return (
    <>
      <Part title="Headers">
        {headers.length === 0 ? (
          <Text size="sm">None yet: the first attempt sends them.</Text>
        ) : (
          <Lines
            label="Headers"
            text={headers
              .map(({ name, value }) => `${name}: ${value ?? '(made from the secret)'}`)
              .join('\n')}
          />
        )}
      </Part>
      <Part title="Payload">
        <Lines label="Payload" text={readable(payload)} />
      </Part>
    </>
  );
}

/** Indented if it is JSON. */
function readable(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2);
  } catch {
    return payload;
  }
}

function Lines({ label, text }: { label: string; text: string }): ReactNode {
  return (
    <Code
      block
      className="scroll-x"
      tabIndex={0}
      aria-label={label}
      style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
    >
      {text}
    </Code>
  );
}

/** Newest first, each by its number: the log keeps the last twenty. */
function Attempts({ delivery, when }: { delivery: WebhookDelivery; when: string }): ReactNode {
  const { attempts, attempt_log } = delivery;
  return (
    <Part title="Attempts">
      {attempt_log.length === 0 && <Text size="sm">None yet.</Text>}
      <ol reversed start={attempts} aria-label={`Attempts of ${when}`} style={{ margin: 0, paddingLeft: 24 }}>
        {attempt_log.toReversed().map((attempt) => (
          <li key={attempt.at}>
            <Text size="sm">
              {moment(attempt.at)} UTC:{' '}
              <Badge size="sm" color={attempt.error === null ? 'teal.9' : 'red.9'}>
                {attempt.status ?? 'no answer'}
              </Badge>{' '}
              after {Math.round(attempt.latency_ms)} ms
            </Text>
            {attempt.error !== null && (
              <Text size="sm">
                {failureText(attempt)}{' '}
                <Text span size="sm" c="dimmed">
                  ({attempt.error})
                </Text>
              </Text>
            )}
            {attempt.response_head !== '' && (
              <Lines label={`Reply at ${moment(attempt.at)} UTC`} text={replyText(attempt.response_head)} />
            )}
          </li>
        ))}
      </ol>
    </Part>
  );
}

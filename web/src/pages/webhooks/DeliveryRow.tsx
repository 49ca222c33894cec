import { Badge, Button, Code, Table, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useAction } from '../../api/hooks.ts';
import type { WebhookDelivery } from '../../api/schema.ts';
import { moment } from '../../ui/format.ts';
import { replyText } from './replyText.ts';

const COLOURS = {
  ...{ delivered: 'teal.9', pending: 'blue.9', failed: 'red.9', skipped: 'gray.7', expired: 'gray.7' },
} as const;
const COLUMNS = 6;
type Attempt = WebhookDelivery['attempt_log'][number];

/** One delivery, with the result of each attempt below it. */
export function DeliveryRow({
  webhookId,
  delivery,
}: {
  webhookId: string;
  delivery: WebhookDelivery;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const again = useAction('POST /app/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver', [
    'GET /app/webhooks/{webhook_id}/deliveries',
  ]);
  const { delivery_id, attempt_log: attempts } = delivery;
  const when = moment(delivery.detected_at);
  return (
    <>
      <Table.Tr>
        <Table.Td className="nowrap">{when}</Table.Td>
        <Table.Td className="nowrap">
          {delivery.tier === null ? delivery.event : `${delivery.tier}, ${delivery.ticker}`}
        </Table.Td>
        <Table.Td>
          <Badge color={COLOURS[delivery.state]}>{delivery.state}</Badge>
        </Table.Td>
        <Table.Td>
          <Text size="sm">{lastText(delivery)}</Text>
        </Table.Td>
        <Table.Td>
          <Button
            size="xs"
            variant="default"
            disabled={attempts.length === 0}
            onClick={() => setOpen(!isOpen)}
            aria-expanded={isOpen}
            aria-label={`${isOpen ? 'Hide' : 'Show'} attempts of ${when}`}
          >
            {isOpen ? 'Hide' : `Show ${attempts.length}`}
          </Button>
        </Table.Td>
        <Table.Td>
          <Button
            size="xs"
            variant="default"
            loading={again.isPending}
            onClick={() => again.mutate({ path: { webhook_id: webhookId, delivery_id } })}
            aria-label={`Redeliver ${when}`}
          >
            Redeliver
          </Button>
          {again.error !== null && (
            <Text size="xs" role="alert">
              {again.error.message}
            </Text>
          )}
        </Table.Td>
      </Table.Tr>
      {isOpen && (
        <Table.Tr>
          <Table.Td colSpan={COLUMNS}>
            <Attempts delivery={delivery} when={when} />
          </Table.Td>
        </Table.Tr>
      )}
    </>
  );
}

/** Newest first, each by its number: the log keeps the last twenty. */
function Attempts({ delivery, when }: { delivery: WebhookDelivery; when: string }): ReactNode {
  return (
    <ol reversed start={delivery.attempts} aria-label={`Attempts of ${when}`} style={{ margin: 0 }}>
      {delivery.attempt_log.toReversed().map((attempt) => (
        <li key={attempt.at}>
          <Text size="sm">
            {moment(attempt.at)}: {outcomeText(attempt)}
          </Text>
          {attempt.response_head !== '' && (
            <Code
              block
              className="scroll-x"
              tabIndex={0}
              aria-label={`Reply at ${moment(attempt.at)}`}
              style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
            >
              {replyText(attempt.response_head)}
            </Code>
          )}
        </li>
      ))}
    </ol>
  );
}

/** A failed attempt shows its error and status. */
function outcomeText({ status, error, latency_ms }: Attempt): string {
  return `${error ?? `status ${status}`} after ${Math.round(latency_ms)} ms`;
}

function lastText({ attempt_log, attempts, next_attempt_at }: WebhookDelivery): string {
  const last = attempt_log.at(-1);
  if (last === undefined) return next_attempt_at === null ? 'none' : `due ${moment(next_attempt_at)}`;
  const next = next_attempt_at === null ? '' : `; next ${moment(next_attempt_at)}`;
  return `${outcomeText(last)} (attempt ${attempts})${next}`;
}

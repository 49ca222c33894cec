import { Badge, Button, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAction, useApi } from '../../api/hooks.ts';
import type { WebhookDelivery } from '../../api/schema.ts';
import { moment } from '../../ui/format.ts';
import { Empty, Failure, Loading } from '../../ui/states.tsx';

const REFETCH_MS = 5_000;
const COLOURS = {
  ...{ delivered: 'teal.9', pending: 'blue.9', failed: 'red.9', skipped: 'gray.7', expired: 'gray.7' },
} as const;

/** The newest deliveries of a webhook with what each attempt met. */
export function Deliveries({ webhookId }: { webhookId: string }): ReactNode {
  const path = { webhook_id: webhookId };
  const list = useApi('GET /app/webhooks/{webhook_id}/deliveries', { path }, { refetchMs: REFETCH_MS });
  const again = useAction('POST /app/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver', [
    'GET /app/webhooks/{webhook_id}/deliveries',
  ]);
  if (list.isPending) return <Loading rows={2} />;
  if (list.isError) return <Failure error={list.error} retry={() => void list.refetch()} />;
  if (list.data.count === 0)
    return <Empty title="Nothing sent yet">Send a test, or wait for an opportunity.</Empty>;
  return (
    <Table.ScrollContainer minWidth={720}>
      <Table verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Detected</Table.Th>
            <Table.Th>What</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Last attempt</Table.Th>
            <Table.Th>Send again</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {list.data.deliveries.map((delivery) => (
            <Table.Tr key={delivery.delivery_id}>
              <Table.Td className="nowrap">{moment(delivery.detected_at)}</Table.Td>
              <Table.Td className="nowrap">
                {delivery.tier}, {delivery.ticker}
              </Table.Td>
              <Table.Td>
                <Badge color={COLOURS[delivery.state]}>{delivery.state}</Badge>
              </Table.Td>
              <Table.Td>
                <Text size="sm">{attemptText(delivery)}</Text>
              </Table.Td>
              <Table.Td>
                <Button
                  size="xs"
                  variant="default"
                  onClick={() => again.mutate({ path: { ...path, delivery_id: delivery.delivery_id } })}
                >
                  Redeliver
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {again.error !== null && <Text role="alert">{again.error.message}</Text>}
    </Table.ScrollContainer>
  );
}

function attemptText({ attempt_log, attempts, next_attempt_at }: WebhookDelivery): string {
  const last = attempt_log.at(-1);
  if (last === undefined) return next_attempt_at === null ? 'none' : `due ${moment(next_attempt_at)}`;
  const outcome = last.status === null ? (last.error ?? 'no answer') : `status ${last.status}`;
  const next = next_attempt_at === null ? '' : `; next ${moment(next_attempt_at)}`;
  return `${outcome} after ${Math.round(last.latency_ms)} ms (attempt ${attempts})${next}`;
}

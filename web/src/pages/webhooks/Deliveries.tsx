import { Badge, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { call } from '../../api/client.ts';
import { listPollingMs, useAction } from '../../api/hooks.ts';
import type { WebhookDelivery, WebhookDeliveryList } from '../../api/schema.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { moment } from '../../ui/format.ts';
import { TableFrame } from '../../ui/frames.tsx';
import { RequestFailure } from '../../ui/RequestFailure.tsx';
import { ShowOlder } from '../../ui/ShowOlder.tsx';
import { Empty } from '../../ui/states.tsx';
import { DeliveryDetail } from './DeliveryDetail.tsx';
import { failureText } from './failureText.ts';

const LOG = 'GET /app/webhooks/{webhook_id}/deliveries';
const REFETCH_MS = 5_000;
const PAGE_SIZE = 50;
const STATES = ['pending', 'delivered', 'failed', 'expired', 'skipped', 'undelivered'] as const;
type Filter = (typeof STATES)[number];

/** The deliveries of a webhook, newest first; each opens below its row. */
export function Deliveries({ webhookId }: { webhookId: string }): ReactNode {
  const [state, setState] = useState<Filter | null>(null);
  const [opened, setOpened] = useState<string | null>(null);
  const list = useDeliveries(webhookId, state);
  const deliveries = list.data?.pages.flatMap((page) => page.deliveries) ?? [];
  const columns = columnsOf({ opened, open: setOpened });
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="flex-end">
        <NativeSelect
          size="xs"
          label="State"
          data={[{ value: '', label: 'any state' }, ...STATES]}
          value={state ?? ''}
          onChange={(event) => setState(STATES.find((one) => one === event.currentTarget.value) ?? null)}
        />
        {state !== 'pending' && (
          <RedeliverAll
            webhookId={webhookId}
            state={state ?? 'failed'}
            isNone={list.isSuccess && !list.hasNextPage && !deliveries.some(isIn(state ?? 'failed'))}
          />
        )}
      </Group>
      {list.isPending && <TableFrame rows={4} columns={4} />}
      <RequestFailure of={list} />
      {list.isSuccess && deliveries.length === 0 && (
        <Empty title={state === null ? 'Nothing sent yet' : `Nothing is ${state}`}>
          {state === null
            ? 'Send a test, or wait for an opportunity.'
            : 'Choose another state to see the rest.'}
        </Empty>
      )}
      {deliveries.length > 0 && (
        <DataTable
          label="Deliveries"
          columns={columns}
          rows={deliveries}
          keyOf={({ delivery_id }) => delivery_id}
          below={(delivery) =>
            delivery.delivery_id === opened && <DeliveryDetail webhookId={webhookId} delivery={delivery} />
          }
        />
      )}
      <ShowOlder list={list} />
    </Stack>
  );
}

/** Whether a delivery has a final state; `undelivered` is all of them but `delivered`. */
function isIn(state: Filter): (delivery: WebhookDelivery) => boolean {
  return (delivery) =>
    state === 'undelivered'
      ? delivery.state !== 'delivered' && delivery.state !== 'pending'
      : delivery.state === state;
}

function useDeliveries(webhookId: string, state: Filter | null) {
  return useInfiniteQuery<
    WebhookDeliveryList,
    Error,
    { pages: WebhookDeliveryList[] },
    unknown[],
    string | null
  >({
    queryKey: [LOG, webhookId, state],
    queryFn: ({ pageParam, signal }) =>
      call(
        LOG,
        {
          path: { webhook_id: webhookId },
          query: { limit: PAGE_SIZE, state: state ?? undefined, cursor: pageParam ?? undefined },
        },
        signal,
      ),
    initialPageParam: null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: ({ state }) => listPollingMs(state, REFETCH_MS),
  });
}

const COLOURS = {
  ...{ delivered: 'teal.9', pending: 'blue.9', failed: 'red.9', skipped: 'gray.7', expired: 'gray.7' },
} as const;

interface Opening {
  readonly opened: string | null;
  readonly open: (deliveryId: string | null) => void;
}

function columnsOf({ opened, open }: Opening): readonly Column<WebhookDelivery>[] {
  return [
    { title: 'Detected, UTC', cell: ({ detected_at }) => moment(detected_at) },
    {
      title: 'Event',
      cell: ({ event, tier, ticker, test }) => (
        <>
          {tier === null ? event : `${tier}, ${ticker}`}{' '}
          {test && (
            <Badge size="sm" variant="outline" color="gray">
              test
            </Badge>
          )}
        </>
      ),
    },
    { title: 'State', cell: ({ state }) => <Badge color={COLOURS[state]}>{state}</Badge> },
    { title: 'Last attempt', isText: true, cell: (delivery) => <Text size="sm">{lastText(delivery)}</Text> },
    { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
    {
      title: 'Details',
      cell: ({ delivery_id, detected_at }) => {
        const isOpen = delivery_id === opened;
        return (
          <Button
            size="xs"
            variant="default"
            onClick={() => open(isOpen ? null : delivery_id)}
            aria-expanded={isOpen}
            aria-label={`${isOpen ? 'Hide' : 'Show'} delivery of ${moment(detected_at)}`}
          >
            {isOpen ? 'Hide' : 'Show'}
          </Button>
        );
      },
    },
  ];
}

function lastText({ attempt_log, next_attempt_at }: WebhookDelivery): string {
  const last = attempt_log.at(-1);
  if (last === undefined) return next_attempt_at === null ? 'none' : `due ${moment(next_attempt_at)} UTC`;
  const outcome = failureText(last) ?? `Answered ${last.status} after ${Math.round(last.latency_ms)} ms.`;
  return next_attempt_at === null ? outcome : `${outcome} Next attempt ${moment(next_attempt_at)} UTC.`;
}

/** Redelivers all deliveries in one final state, over the whole log. */
function RedeliverAll({
  webhookId,
  state,
  isNone,
}: {
  webhookId: string;
  state: Filter;
  /** No delivery of the whole log is in this state. */
  isNone: boolean;
}): ReactNode {
  const again = useAction('POST /app/webhooks/{webhook_id}/redeliver', [
    LOG,
    'GET /app/webhooks/{webhook_id}/summary',
  ]);
  const count = again.data?.count;
  return (
    <Group gap="xs">
      <Text size="sm" role="status">
        {again.error?.message ??
          (count !== undefined
            ? `${count.toLocaleString('en')} queued for redelivery`
            : isNone && `Nothing is ${state}, so there is nothing to redeliver.`)}
      </Text>
      <Button
        size="xs"
        variant="default"
        disabled={isNone}
        loading={again.isPending}
        onClick={() => again.mutate({ path: { webhook_id: webhookId }, body: { state } })}
      >
        Redeliver all {state}
      </Button>
    </Group>
  );
}

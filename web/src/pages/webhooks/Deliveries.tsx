import { Button, Group, NativeSelect, Stack, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { WebhookDelivery, WebhookDeliveryList } from '../../api/schema.ts';
import { ShowOlder } from '../../ui/ShowOlder.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { DeliveryRow } from './DeliveryRow.tsx';

const LOG = 'GET /app/webhooks/{webhook_id}/deliveries';
/** All displayed pages are polled, so more pages are polled less often. */
const REFETCH_MS_PER_PAGE = 5_000;
const PAGE_SIZE = 50;
const STATES = ['pending', 'delivered', 'failed', 'expired', 'skipped'] as const;
type State = WebhookDelivery['state'];

/** The deliveries of a webhook, newest first, with the result of each attempt and redelivery. */
export function Deliveries({ webhookId }: { webhookId: string }): ReactNode {
  const [state, setState] = useState<State | null>(null);
  const list = useDeliveries(webhookId, state);
  const deliveries = list.data?.pages.flatMap((page) => page.deliveries) ?? [];
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
        {state !== 'pending' && <RedeliverAll webhookId={webhookId} state={state ?? 'failed'} />}
      </Group>
      {list.isPending && <Loading rows={2} />}
      {list.isError && <Failure error={list.error} retry={() => void list.refetch()} />}
      {list.isSuccess && deliveries.length === 0 && (
        <Empty title={state === null ? 'Nothing sent yet' : `Nothing is ${state}`}>
          {state === null
            ? 'Send a test, or wait for an opportunity.'
            : 'Choose another state to see the rest.'}
        </Empty>
      )}
      {deliveries.length > 0 && <Log webhookId={webhookId} deliveries={deliveries} />}
      <ShowOlder list={list} />
    </Stack>
  );
}

function useDeliveries(webhookId: string, state: State | null) {
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
    refetchInterval: ({ state: { data } }) => REFETCH_MS_PER_PAGE * (data?.pages.length ?? 1),
  });
}

function Log({
  webhookId,
  deliveries,
}: {
  webhookId: string;
  deliveries: readonly WebhookDelivery[];
}): ReactNode {
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Detected</Table.Th>
            <Table.Th>What</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Last attempt</Table.Th>
            <Table.Th>Attempts</Table.Th>
            <Table.Th>Redelivery</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {deliveries.map((delivery) => (
            <DeliveryRow key={delivery.delivery_id} webhookId={webhookId} delivery={delivery} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Redelivers all deliveries in one final state, over the whole log. */
function RedeliverAll({ webhookId, state }: { webhookId: string; state: State }): ReactNode {
  const again = useAction('POST /app/webhooks/{webhook_id}/redeliver', [LOG]);
  const count = again.data?.count;
  return (
    <Group gap="xs">
      <Text size="sm" role="status">
        {again.error?.message ??
          (count !== undefined && `${count.toLocaleString('en')} queued for redelivery`)}
      </Text>
      <Button
        size="xs"
        variant="default"
        loading={again.isPending}
        onClick={() => again.mutate({ path: { webhook_id: webhookId }, body: { state } })}
      >
        Redeliver all {state}
      </Button>
    </Group>
  );
}

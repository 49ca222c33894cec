import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi, useSession } from '../../api/hooks.ts';
import { Page } from '../../ui/Page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { NewWebhook } from './NewWebhook.tsx';
import { WebhookCard } from './WebhookCard.tsx';

const REFETCH_MS = 10_000;

/** Addresses that are told of opportunities as they are detected. */
export function Webhooks(): ReactNode {
  const { data: user } = useSession();
  const table = useApi('GET /app/tiers', {});
  const allowed = Object.entries(table.data?.tiers ?? {}).filter(([, { webhooks }]) => webhooks);
  const isAllowed = allowed.some(([tier]) => tier === user?.tier);
  const hooks = useApi('GET /app/webhooks', {}, { enabled: isAllowed, refetchMs: REFETCH_MS });
  return (
    <Page
      title="Webhooks"
      about="Each opportunity is sent as a signed POST, within moments of its detection."
    >
      {table.isPending && <Loading />}
      {table.isError && <Failure error={table.error} retry={() => void table.refetch()} />}
      {table.isSuccess && !isAllowed && (
        <div className="card">
          <Empty title={`Webhooks are not in tier ${user?.tier ?? 'free'}`}>
            {allowed.length === 0
              ? 'This service has them in no tier. '
              : `They are in ${allowed.map(([tier]) => tier).join(', ')}, which the operator of this service can give you. `}
            The same opportunities are on the page Signals.
          </Empty>
        </div>
      )}
      {isAllowed && (
        <>
          <Stack className="card" p="md">
            <NewWebhook />
          </Stack>
          {hooks.isPending && <Loading />}
          {hooks.isError && <Failure error={hooks.error} retry={() => void hooks.refetch()} />}
          {hooks.isSuccess && hooks.data.count === 0 && (
            <div className="card">
              <Empty title="No webhooks yet">
                Register an address above; it must answer 2xx within five seconds.
              </Empty>
            </div>
          )}
          {hooks.data?.webhooks.map((hook) => (
            <WebhookCard key={hook.webhook_id} hook={hook} />
          ))}
          <Text size="sm" c="dimmed">
            After ten failures in a row a webhook is paused: what waits is dropped, and what fires while it is
            paused is not sent later.
          </Text>
        </>
      )}
    </Page>
  );
}

import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFeature, whereIncluded } from '../../api/feature.ts';
import { useApi } from '../../api/hooks.ts';
import { Page } from '../../ui/Page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { NewWebhook } from './NewWebhook.tsx';
import { WebhookCard } from './WebhookCard.tsx';

const REFETCH_MS = 10_000;

/** URLs that receive opportunities as they are detected. */
export function Webhooks(): ReactNode {
  const { included, table } = useFeature('webhooks');
  // Shown in every tier: webhooks registered in a higher tier continue.
  const hooks = useApi('GET /app/webhooks', {}, { refetchMs: REFETCH_MS });
  const count = hooks.data?.count ?? 0;
  return (
    <Page title="Webhooks" about="Each opportunity is sent as a signed POST as soon as it is detected.">
      {table.isError && <Failure error={table.error} retry={() => void table.refetch()} />}
      {included?.own === true && (
        <Stack className="card" p="md">
          <NewWebhook />
        </Stack>
      )}
      {included?.own === false && (
        <div className="card">
          <Empty title={`Webhooks are not in tier ${included.tier}`}>
            {whereIncluded(included.tiers)} The same opportunities are on the page Signals.
            {count > 0 && ' Webhooks that you registered before continue until you pause or delete them.'}
          </Empty>
        </div>
      )}
      {hooks.isPending && <Loading />}
      {hooks.isError && <Failure error={hooks.error} retry={() => void hooks.refetch()} />}
      {hooks.isSuccess && count === 0 && included?.own === true && (
        <div className="card">
          <Empty title="No webhooks yet">Register a URL above; it must answer 2xx within five seconds.</Empty>
        </div>
      )}
      {hooks.data?.webhooks.map((hook) => (
        <WebhookCard key={hook.webhook_id} hook={hook} />
      ))}
      {(included?.own === true || count > 0) && (
        <Text size="sm" c="dimmed">
          After 10 consecutive failures the webhook is paused. Pending events are dropped and events fired
          while paused are not sent.
        </Text>
      )}
    </Page>
  );
}

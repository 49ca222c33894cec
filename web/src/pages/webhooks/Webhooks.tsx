import { Button, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useFeature } from '../../api/feature.ts';
import { useApi } from '../../api/hooks.ts';
import type { Webhook } from '../../api/schema.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { number, percent, visibleName } from '../../ui/format.ts';
import { TableFrame } from '../../ui/frames.tsx';
import { Page } from '../../ui/Page.tsx';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { Empty } from '../../ui/states.tsx';
import { TierLock } from '../../ui/TierLock.tsx';
import { useOpenForm } from '../../ui/useOpenForm.ts';
import { NewWebhook } from './NewWebhook.tsx';
import { sendsText } from './sends.ts';
import { WebhookState } from './WebhookState.tsx';

const REFETCH_MS = 10_000;

/** URLs that receive opportunities as they are detected. */
export function Webhooks(): ReactNode {
  const { included, table } = useFeature('webhooks');
  // Shown in every tier: webhooks registered in a higher tier continue.
  const hooks = useApi('GET /app/webhooks', {}, { refetchMs: REFETCH_MS });
  const known = lastAnswer(hooks);
  const count = known?.count ?? 0;
  const [isAdding, setAdding] = useOpenForm(known && count === 0);
  const mayAdd = included?.own === true;
  return (
    <Page
      title="Webhooks"
      about="Each opportunity is sent as a signed POST as soon as it is detected."
      actions={
        mayAdd &&
        count > 0 && (
          <Button onClick={() => setAdding(!isAdding)} aria-expanded={isAdding}>
            New webhook
          </Button>
        )
      }
    >
      <RequestFailure of={table} />
      <TierLock
        feature="webhooks"
        what="Webhooks"
        aside={
          <>
            The same opportunities are on the page{' '}
            <Link to="/signals" search={{ view: 'live' }}>
              Signals
            </Link>
            .{count > 0 && ' Webhooks that you registered before continue until you pause or delete them.'}
          </>
        }
      >
        {mayAdd && known !== undefined && isAdding && (
          <Stack className="card" p="md">
            <NewWebhook />
          </Stack>
        )}
      </TierLock>
      <div className="card">
        {hooks.isPending && <TableFrame rows={3} columns={5} />}
        <RequestFailure of={hooks} />
        {known !== undefined && count === 0 && (
          <Empty title="No webhooks yet">
            {mayAdd && 'Register a URL above; it must answer 2xx within five seconds.'}
          </Empty>
        )}
        {known !== undefined && count > 0 && (
          <DataTable
            label="Webhooks"
            columns={COLUMNS}
            rows={known.webhooks}
            keyOf={(hook) => hook.webhook_id}
          />
        )}
      </div>
      <Text size="sm" c="dimmed">
        Figures are of the last 7 days, without tests and pending deliveries. After 10 consecutive failed
        attempts a webhook is paused. Pending events are dropped and events fired while paused are not sent.
        Webhooks are isolated: each has its own queue, connections and pause state.
      </Text>
    </Page>
  );
}

const COLUMNS: readonly Column<Webhook>[] = [
  {
    title: 'Webhook',
    isText: true,
    cell: (hook) => (
      <>
        <Link to="/webhooks/$webhookId" params={{ webhookId: hook.webhook_id }}>
          {visibleName(hook.label, hook.webhook_id)}
        </Link>
        <Text size="xs" c="dimmed">
          {hook.url}
        </Text>
      </>
    ),
  },
  { title: 'State', cell: (hook) => <WebhookState hook={hook} /> },
  {
    title: 'Sends',
    cell: sendsText,
  },
  { title: 'Delivered', isNumber: true, cell: (hook) => <Summary hook={hook} of="delivered" /> },
  { title: 'Success rate', isNumber: true, cell: (hook) => <Summary hook={hook} of="rate" /> },
  { title: 'Median latency', isNumber: true, cell: (hook) => <Summary hook={hook} of="latency" /> },
];

function Summary({ hook, of }: { hook: Webhook; of: 'delivered' | 'rate' | 'latency' }): ReactNode {
  const path = { webhook_id: hook.webhook_id };
  const { data } = useApi('GET /app/webhooks/{webhook_id}/summary', { path }, { refetchMs: REFETCH_MS });
  if (data === undefined) return number(null);
  if (of === 'delivered') return number(data.delivered);
  if (of === 'rate') return data.success_rate === null ? 'no delivery ended' : percent(data.success_rate);
  return data.latency_ms_median === null ? 'nothing delivered' : latencyText(data.latency_ms_median);
}

/** Milliseconds as the owner compares them. */
export function latencyText(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? number(null) : `${number(ms)} ms`;
}

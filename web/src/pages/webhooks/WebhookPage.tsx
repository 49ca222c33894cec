import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { Webhook, WebhookSummary, WebhookWithSecret } from '../../api/schema.ts';
import { type Figure, Figures } from '../../ui/Figures.tsx';
import { moment, number, percent, visibleName } from '../../ui/format.ts';
import { FiguresFrame, TableFrame } from '../../ui/frames.tsx';
import { Page } from '../../ui/Page.tsx';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { Copyable } from '../../ui/Secret.tsx';
import { Deliveries } from './Deliveries.tsx';
import { EditWebhook } from './EditWebhook.tsx';
import { RedeliverFailures } from './RedeliverFailures.tsx';
import { sendsText } from './sends.ts';
import { VerifySnippets } from './VerifySnippets.tsx';
import { WebhookEnding, WebhookSending } from './WebhookActions.tsx';
import { WebhookState } from './WebhookState.tsx';
import { latencyText } from './Webhooks.tsx';

const route = getRouteApi('/shell/webhooks/$webhookId');
const REFETCH_MS = 5_000;

/** One webhook: how its deliveries go, each delivery, and all actions. */
export function WebhookPage(): ReactNode {
  const { webhookId } = route.useParams();
  const path = { webhook_id: webhookId };
  const hook = useApi('GET /app/webhooks/{webhook_id}', { path }, { refetchMs: REFETCH_MS });
  const summary = useApi('GET /app/webhooks/{webhook_id}/summary', { path }, { refetchMs: REFETCH_MS });
  if (hook.isPending) {
    return (
      <Page title="Webhook">
        <FiguresFrame />
        <div className="card">
          <TableFrame />
        </div>
      </Page>
    );
  }
  const known = lastAnswer(hook);
  if (known === undefined) {
    return (
      <Page title="Webhook" about={<Link to="/webhooks">All webhooks</Link>}>
        <RequestFailure of={hook} />
      </Page>
    );
  }
  return (
    <>
      <RequestFailure of={hook} />
      <Details hook={known} summary={summary} />
    </>
  );
}

function Details({
  hook,
  summary,
}: {
  hook: Webhook;
  summary: UseQueryResult<WebhookSummary, Error>;
}): ReactNode {
  const [isEdited, setEdited] = useState(false);
  const [rotated, setRotated] = useState<WebhookWithSecret | null>(null);
  const figures = lastAnswer(summary);
  return (
    <Page
      title={visibleName(hook.label, hook.webhook_id)}
      about={
        <>
          <Link to="/webhooks">All webhooks</Link> ·{' '}
          <span style={{ overflowWrap: 'anywhere' }}>{hook.url}</span> · {sendsText(hook)}
        </>
      }
      actions={<WebhookState hook={hook} />}
    >
      <Group gap="xs" role="toolbar" aria-label="Actions">
        <WebhookSending hook={hook} />
        <Button size="xs" variant="default" onClick={() => setEdited(!isEdited)} aria-expanded={isEdited}>
          Edit
        </Button>
        <WebhookEnding hook={hook} whenRotated={setRotated} />
      </Group>
      {isEdited && (
        <Stack className="card" p="md">
          <EditWebhook hook={hook} leave={() => setEdited(false)} />
        </Stack>
      )}
      {rotated !== null && (
        <Alert
          color="teal"
          title={`New secret; the old one is valid until ${moment(rotated.previous_secret_until)} UTC`}
        >
          <Copyable text={rotated.secret} label="new webhook secret" />
        </Alert>
      )}
      {summary.isPending && <FiguresFrame count={5} />}
      <RequestFailure of={summary} />
      {figures !== undefined && <Success summary={figures} />}
      {figures !== undefined && <RedeliverFailures hook={hook} summary={figures} />}
      <Stack className="card" p="md" gap="sm" component="section" aria-label="Deliveries">
        <Text component="h2" fw={600}>
          Deliveries
        </Text>
        <Deliveries webhookId={hook.webhook_id} />
      </Stack>
      {hook.format === 'signed' && <VerifySnippets />}
    </Page>
  );
}

function Success({ summary }: { summary: WebhookSummary }): ReactNode {
  return (
    <Stack gap={6}>
      <Figures
        cols={{ base: 2, sm: 5 }}
        figures={[
          [
            'Success rate',
            percent(summary.success_rate),
            summary.success_rate === null ? 'no delivery ended' : undefined,
          ],
          ['Delivered', number(summary.delivered)],
          ['Not delivered', number(summary.undelivered), 'failed, skipped, expired'],
          latencyFigure('Median latency', summary.latency_ms_median),
          latencyFigure('95 % answer within', summary.latency_ms_p95),
        ]}
      />
      <Text size="sm" c="dimmed">
        All of these figures are of the last 7 days, without tests and without pending deliveries.
      </Text>
    </Stack>
  );
}

function latencyFigure(name: string, ms: number | null): Figure {
  return [name, latencyText(ms), ms === null ? 'nothing delivered' : undefined];
}

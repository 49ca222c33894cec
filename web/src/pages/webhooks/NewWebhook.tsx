import { Alert, Button, Group, Select, Stack, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { WebhookFormat } from '../../../../src/schema/notification.ts';
import { useAction } from '../../api/hooks.ts';
import { FormProblem, useShownProblem } from '../../ui/FormProblem.tsx';
import { Copyable } from '../../ui/Secret.tsx';
import { EVERYTHING, FilterFields, filterBody, isNothing } from './Filters.tsx';
import { FORMATS } from './formats.ts';

/** Registers a URL and shows its secret once. */
export function NewWebhook(): ReactNode {
  const [url, setUrl] = useState('');
  const [label, setLabel] = useState('');
  const [format, setFormat] = useState<WebhookFormat>('signed');
  const [filter, setFilter] = useState(EVERYTHING);
  const create = useAction('POST /app/webhooks', ['GET /app/webhooks'], { isShownOnce: true });
  const { fields, error, change, compare } = useShownProblem(create.error);
  const send = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ body: { url, label, format, ...filterBody(filter) } });
  };
  return (
    <form onSubmit={send}>
      <Stack gap="sm">
        <Group align="flex-start" grow preventGrowOverflow={false}>
          <Select
            label="Format"
            data={FORMATS.map(({ value, label: name }) => ({ value, label: name }))}
            value={format}
            allowDeselect={false}
            onChange={(value) => {
              setFormat((value ?? 'signed') as WebhookFormat);
              // Each format has addresses of its own.
              change('format', 'url');
            }}
            error={fields.get('format')}
          />
          <TextInput
            label="URL"
            type="url"
            placeholder={FORMATS.find(({ value }) => value === format)?.example ?? ''}
            required
            value={url}
            onChange={(event) => {
              setUrl(event.currentTarget.value);
              change('url');
            }}
            error={fields.get('url')}
          />
          <TextInput
            label="Label"
            required
            value={label}
            onChange={(event) => {
              setLabel(event.currentTarget.value);
              change('label');
            }}
            error={fields.get('label')}
          />
        </Group>
        <FilterFields filter={filter} setFilter={setFilter} compare={compare} errors={fields} />
        <FormProblem error={error} />
        <Group>
          <Button type="submit" loading={create.isPending} disabled={isNothing(filter)}>
            Register webhook
          </Button>
        </Group>
        {create.data?.secret != null && (
          <Alert color="teal" title="Webhook secret: copy it now, it is not shown again">
            <Copyable text={create.data.secret} label="webhook secret" />
          </Alert>
        )}
        {create.data?.secret === null && (
          <Alert color="teal" title="Registered">
            Send a test below: a message appears in the chat.
          </Alert>
        )}
      </Stack>
    </form>
  );
}

import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useAction } from '../../api/hooks.ts';
import type { Webhook } from '../../api/schema.ts';
import { FormProblem, useShownProblem } from '../../ui/FormProblem.tsx';
import { FilterFields, filterBody, filterOf, isNothing } from './Filters.tsx';

/** Changes the label and filters of a webhook; its URL and secret stay. */
export function EditWebhook({ hook, leave }: { hook: Webhook; leave: () => void }): ReactNode {
  const [label, setLabel] = useState(hook.label);
  const [filter, setFilter] = useState(filterOf(hook));
  const edit = useAction('PATCH /app/webhooks/{webhook_id}', [
    'GET /app/webhooks',
    'GET /app/webhooks/{webhook_id}',
  ]);
  const { fields, error, change, compare } = useShownProblem(edit.error);
  const save = (event: FormEvent) => {
    event.preventDefault();
    const path = { webhook_id: hook.webhook_id };
    edit.mutate({ path, body: { label, ...filterBody(filter) } }, { onSuccess: leave });
  };
  return (
    <form onSubmit={save}>
      <Stack gap="sm">
        <TextInput
          label="New label"
          required
          maw={420}
          value={label}
          onChange={(event) => {
            setLabel(event.currentTarget.value);
            change('label');
          }}
          error={fields.get('label')}
        />
        <FilterFields filter={filter} setFilter={setFilter} compare={compare} errors={fields} />
        <FormProblem error={error} />
        <Group gap="xs">
          <Button type="submit" size="xs" loading={edit.isPending} disabled={isNothing(filter)}>
            Save
          </Button>
          <Button size="xs" variant="default" onClick={leave}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

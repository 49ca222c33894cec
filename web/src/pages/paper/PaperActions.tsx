import { Button, Group, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useAction } from '../../api/hooks.ts';
import type { PaperStrategy } from '../../api/schema.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { useShownProblem } from '../../ui/FormProblem.tsx';

const LIST = 'GET /v1/paper/strategies';
const ONE = 'GET /v1/paper/strategies/{strategy_id}';

/** Actions for a paper strategy. */
export function PaperActions({ strategy }: { strategy: PaperStrategy }): ReactNode {
  const [isRenaming, setRenaming] = useState(false);
  const path = { strategy_id: strategy.paper_strategy_id };
  const navigate = useNavigate();
  const change = useAction('PATCH /v1/paper/strategies/{strategy_id}', [LIST, ONE]);
  const remove = useAction('DELETE /v1/paper/strategies/{strategy_id}', [LIST]);
  if (isRenaming) return <Rename strategy={strategy} leave={() => setRenaming(false)} />;
  return (
    <>
      {change.error !== null && (
        <Text size="sm" role="alert">
          {change.error.message}
        </Text>
      )}
      <Button
        variant="default"
        loading={change.isPending}
        onClick={() => change.mutate({ path, body: { active: !strategy.active } })}
      >
        {strategy.active ? 'Pause' : 'Resume'}
      </Button>
      <Button variant="default" onClick={() => setRenaming(true)}>
        Rename
      </Button>
      <ConfirmButton
        verb="Delete"
        of={strategy.name}
        size="sm"
        isPending={remove.isPending}
        error={remove.error}
        act={() => remove.mutate({ path }, { onSuccess: () => void navigate({ to: '/paper' }) })}
      />
    </>
  );
}

function Rename({ strategy, leave }: { strategy: PaperStrategy; leave: () => void }): ReactNode {
  const [name, setName] = useState(strategy.name);
  const change = useAction('PATCH /v1/paper/strategies/{strategy_id}', [LIST, ONE]);
  const { fields, error, change: changed } = useShownProblem(change.error);
  const save = (event: FormEvent) => {
    event.preventDefault();
    const path = { strategy_id: strategy.paper_strategy_id };
    change.mutate({ path, body: { name } }, { onSuccess: leave });
  };
  return (
    <form onSubmit={save}>
      <Group gap="xs" align="flex-start">
        <TextInput
          aria-label="New name"
          required
          maxLength={128}
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value);
            changed('name');
          }}
          error={fields.get('name') ?? error?.message}
        />
        <Button type="submit" loading={change.isPending}>
          Save
        </Button>
        <Button variant="default" onClick={leave}>
          Cancel
        </Button>
      </Group>
    </form>
  );
}

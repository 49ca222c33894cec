import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { InputOf } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { SeriesForm } from '../../strategy/SeriesForm.tsx';
import { StrategyForm } from '../../strategy/StrategyForm.tsx';
import { firstSeries, seriesText } from '../../strategy/series.ts';
import { STRATEGIES, STRATEGY_NAMES } from '../../strategy/strategies.ts';
import { FormProblem, useShownProblem } from '../../ui/FormProblem.tsx';
import { NumberField } from '../../ui/NumberField.tsx';
import { RequestFailure } from '../../ui/RequestFailure.tsx';
import { Loading } from '../../ui/states.tsx';

type Draft = NonNullable<InputOf<'POST /v1/paper/strategies'>['body']>;

const FIRST_DRAFT: Draft = {
  name: '',
  strategy: STRATEGIES.threshold_entry,
  universe: { ticker: 'BTC', event_type: '5m' },
  size_usd: 10,
};

/** A form for a new paper strategy, initialised with the backtest in the address. */
export function NewPaperStrategy({ from }: { from: string | undefined }): ReactNode {
  const job = useApi(
    'GET /v1/backtest/{job_id}',
    { path: { job_id: from ?? '' } },
    { enabled: from !== undefined },
  );
  if (from === undefined) return <Form key="new" first={FIRST_DRAFT} />;
  if (job.isPending) return <Loading />;
  if (job.data === undefined) return <RequestFailure of={job} />;
  const { strategy, size_usd, job_id } = job.data;
  // A paper strategy trades one series.
  const universe = firstSeries(job.data.universe);
  const name = `${seriesText(universe)}: ${STRATEGY_NAMES[strategy.type]}`;
  return <Form key={from} first={{ name, strategy, universe, size_usd, baseline_backtest_id: job_id }} />;
}

function Form({ first }: { first: Draft }): ReactNode {
  const [draft, setDraft] = useState(first);
  const navigate = useNavigate();
  const create = useAction('POST /v1/paper/strategies', ['GET /v1/paper/strategies']);
  const { fields: errors, error, compare } = useShownProblem(create.error);
  const change = (next: Draft) => {
    compare(draft, next);
    setDraft(next);
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(
      { body: draft },
      {
        onSuccess: ({ paper_strategy_id }) =>
          void navigate({ to: '/paper/$strategyId', params: { strategyId: paper_strategy_id } }),
      },
    );
  };
  return (
    <form onSubmit={send}>
      <Stack className="card" p="md" gap="sm">
        <TextInput
          label="Name"
          required
          maw={420}
          maxLength={128}
          value={draft.name}
          onChange={(event) => change({ ...draft, name: event.currentTarget.value })}
          error={errors.get('name')}
        />
        <StrategyForm
          strategy={draft.strategy}
          change={(strategy) => change({ ...draft, strategy })}
          errors={errors}
        />
        <Group align="flex-start">
          <SeriesForm
            universe={draft.universe}
            change={(universe) => change({ ...draft, universe })}
            errors={errors}
          />
          <NumberField
            label="Size per trade ($)"
            value={draft.size_usd ?? 10}
            change={(size_usd) => change({ ...draft, size_usd })}
            error={errors.get('size_usd')}
          />
          <Baseline draft={draft} first={first.baseline_backtest_id ?? null} change={change} />
        </Group>
        <FormProblem error={error} />
        <Group>
          <Button type="submit" loading={create.isPending}>
            Start paper trading
          </Button>
          <Text size="sm" c="dimmed">
            It trades every window of this kind from a second after you start it; no order reaches the venue.
          </Text>
        </Group>
      </Stack>
    </form>
  );
}

/** The baseline of the strategy: a backtest of the last day, or the one that it came from. */
function Baseline({
  draft,
  first,
  change,
}: {
  draft: Draft;
  first: string | null;
  change: (draft: Draft) => void;
}): ReactNode {
  if (first === null) return null;
  return (
    <NativeSelect
      label="Compared with"
      w={280}
      data={[
        { value: first, label: 'the backtest it came from' },
        { value: '', label: 'a new backtest of the last 24 hours' },
      ]}
      value={draft.baseline_backtest_id ?? ''}
      onChange={(event) => {
        const { value } = event.currentTarget;
        change({ ...draft, baseline_backtest_id: value === '' ? null : value });
      }}
    />
  );
}

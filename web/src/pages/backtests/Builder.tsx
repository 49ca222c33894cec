import { Button, Group, SegmentedControl, Stack, Textarea } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useAction } from '../../api/hooks.ts';
import { StrategyForm } from '../../strategy/StrategyForm.tsx';
import { FormProblem, useShownProblem } from '../../ui/FormProblem.tsx';
import { AxesForm } from './AxesForm.tsx';
import { type Draft, type SweepBody, withStrategy } from './draft.ts';
import { RunForm } from './RunForm.tsx';

const VIEWS = [
  { value: 'form', label: 'Form' },
  { value: 'json', label: 'JSON' },
];

const JOB_LISTS = ['GET /v1/backtest', 'GET /app/backtests'] as const;

/** Edits the request of a backtest or a sweep, as a form or as JSON. */
export function Builder({ first }: { first: Draft }): ReactNode {
  const [draft, setDraft] = useState(first);
  const [view, setView] = useState('form');
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const navigate = useNavigate();
  const backtest = useAction('POST /v1/backtest', JOB_LISTS);
  const sweep = useAction('POST /v1/backtest/sweep', JOB_LISTS);
  const isSweep = draft.x_axis !== undefined;
  const shownProblem = useShownProblem(isSweep ? sweep.error : backtest.error);
  const { fields: errors, error } = shownProblem;
  const change = (next: Draft) => {
    shownProblem.compare(draft, next);
    setDraft(next);
  };

  const show = (next: string) => {
    if (next === 'json') setText(JSON.stringify(draft, null, 2));
    else if (readText() === null) return;
    setView(next);
  };
  const readText = (): Draft | null => {
    try {
      const read = JSON.parse(text) as Draft;
      setDraft(read);
      setProblem(null);
      return read;
    } catch (cause) {
      setProblem(cause instanceof Error ? cause.message : 'not JSON');
      return null;
    }
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    const body = view === 'json' ? readText() : draft;
    if (body === null) return;
    const follow = ({ job_id }: { job_id: string }) =>
      void navigate({ to: '/backtests/$jobId', params: { jobId: job_id } });
    if (body.x_axis === undefined) backtest.mutate({ body }, { onSuccess: follow });
    else sweep.mutate({ body: body as SweepBody }, { onSuccess: follow });
  };
  return (
    <form onSubmit={send}>
      <Stack className="card" p="md" gap="sm">
        <SegmentedControl
          aria-label="View"
          style={{ alignSelf: 'flex-start' }}
          data={VIEWS}
          value={view}
          onChange={show}
        />
        {view === 'json' ? (
          // Not Mantine's `JsonInput`: of a text that is not JSON it shows no message but its own.
          <Textarea
            label="Request body"
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            autosize
            minRows={12}
            value={text}
            onChange={(event) => {
              setText(event.currentTarget.value);
              setProblem(null);
              // Which field the reader is changing is known once the text is JSON again.
              shownProblem.change('', ...errors.keys());
            }}
            error={problem}
          />
        ) : (
          <>
            <StrategyForm
              strategy={draft.strategy}
              change={(strategy) => change(withStrategy(draft, strategy))}
              errors={errors}
            />
            <RunForm draft={draft} change={change} errors={errors} />
            <AxesForm draft={draft} change={change} errors={errors} />
          </>
        )}
        <FormProblem error={error} hasFields={view === 'form'} />
        <Group>
          <Button type="submit" loading={backtest.isPending || sweep.isPending}>
            {isSweep ? 'Run sweep' : 'Run backtest'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

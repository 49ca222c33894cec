import {
  Alert,
  Button,
  Group,
  JsonInput,
  NativeSelect,
  NumberInput,
  SegmentedControl,
  Stack,
} from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useAction } from '../../api/hooks.ts';
import { ApiProblem } from '../../api/problem.ts';
import { WINDOW_NAMES } from '../../ui/format.ts';
import { type Axis, AxisForm } from './AxisForm.tsx';
import { type BacktestBody, FIRST_DRAFT, SWEPT, type SweepBody } from './draft.ts';
import { StrategyForm } from './StrategyForm.tsx';

const FIRST_AXIS: Axis = { param: 'threshold', start: 0.1, end: 0.5, steps: 5 };

/** Puts a backtest or a sweep together, as a form or as the JSON that is sent. */
export function Builder(): ReactNode {
  const [draft, setDraft] = useState<BacktestBody>(FIRST_DRAFT);
  const [axis, setAxis] = useState<Axis | null>(null);
  const [view, setView] = useState('form');
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const navigate = useNavigate();
  const backtest = useAction('POST /v1/backtest', ['GET /v1/backtest']);
  const sweep = useAction('POST /v1/backtest/sweep', ['GET /v1/backtest']);
  const error = axis === null ? backtest.error : sweep.error;
  const errors = error instanceof ApiProblem ? error.fields : new Map<string, string>();
  const swept = SWEPT[draft.strategy.type];

  const show = (next: string) => {
    if (next === 'json') setText(JSON.stringify(draft, null, 2));
    else if (!readText()) return;
    setView(next);
  };
  const readText = (): BacktestBody | null => {
    try {
      const read = JSON.parse(text) as BacktestBody;
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
    if (axis === null) backtest.mutate({ body }, { onSuccess: follow });
    else sweep.mutate({ body: { ...body, x_axis: axis } as SweepBody }, { onSuccess: follow });
  };
  return (
    <form onSubmit={send}>
      <Stack className="card" p="md" gap="sm">
        <SegmentedControl
          aria-label="View"
          style={{ alignSelf: 'flex-start' }}
          data={[
            { value: 'form', label: 'Form' },
            { value: 'json', label: 'JSON' },
          ]}
          value={view}
          onChange={show}
        />
        {view === 'json' ? (
          <JsonInput
            label="Request body"
            autosize
            minRows={12}
            value={text}
            onChange={setText}
            error={problem}
          />
        ) : (
          <>
            <StrategyForm
              strategy={draft.strategy}
              change={(strategy) => {
                if (strategy.type !== draft.strategy.type) setAxis(null);
                setDraft({ ...draft, strategy });
              }}
              errors={errors}
            />
            <Universe draft={draft} change={setDraft} errors={errors} />
          </>
        )}
        {axis !== null && <AxisForm axis={axis} params={swept} change={setAxis} />}
        {error !== null && <Alert color="red" role="alert" title={error.message} />}
        <Group>
          <Button type="submit" loading={backtest.isPending || sweep.isPending}>
            {axis === null ? 'Run backtest' : 'Run sweep'}
          </Button>
          {swept.length > 0 && (
            <Button
              variant="default"
              onClick={() => setAxis(axis === null ? { ...FIRST_AXIS, param: swept[0] ?? '' } : null)}
            >
              {axis === null ? 'Sweep a parameter' : 'No sweep'}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

function Universe({
  draft,
  change,
  errors,
}: {
  draft: BacktestBody;
  change: (draft: BacktestBody) => void;
  errors: ReadonlyMap<string, string>;
}): ReactNode {
  const { universe } = draft;
  const set = (part: Partial<BacktestBody['universe']>) =>
    change({ ...draft, universe: { ...universe, ...part } });
  return (
    <Group align="flex-start">
      <NativeSelect
        label="Underlying"
        w={120}
        data={['BTC', 'ETH', 'SOL']}
        value={universe.ticker}
        onChange={(event) => set({ ticker: event.currentTarget.value as typeof universe.ticker })}
      />
      <NativeSelect
        label="Window"
        w={130}
        data={['5m', '15m', '1h', '4h', 'daily_up_down'].map((value) => ({
          value,
          label: WINDOW_NAMES[value] ?? value,
        }))}
        value={universe.event_type}
        onChange={(event) => set({ event_type: event.currentTarget.value as typeof universe.event_type })}
      />
      <NumberInput
        label="Dollars a trade"
        w={140}
        value={draft.size_usd ?? 10}
        onChange={(value) => change({ ...draft, size_usd: Number(value) })}
        error={errors.get('size_usd')}
      />
      <NumberInput
        label="Newest markets"
        w={140}
        value={draft.market_limit ?? 5}
        onChange={(value) => change({ ...draft, market_limit: Number(value) })}
        error={errors.get('market_limit')}
      />
    </Group>
  );
}

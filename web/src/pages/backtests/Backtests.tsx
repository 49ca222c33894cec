import { Button } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi } from '../../api/hooks.ts';
import { TierLimits } from '../../strategy/TierLimits.tsx';
import { Page } from '../../ui/Page.tsx';
import { RequestFailure } from '../../ui/RequestFailure.tsx';
import { Loading } from '../../ui/states.tsx';
import { TierLock } from '../../ui/TierLock.tsx';
import { useOpenForm } from '../../ui/useOpenForm.ts';
import { Builder } from './Builder.tsx';
import { draftOf, FIRST_DRAFT } from './draft.ts';
import { Jobs } from './Jobs.tsx';

const route = getRouteApi('/shell/backtests');

/** A form for a new backtest, and the list of earlier ones. */
export function Backtests(): ReactNode {
  const { from } = route.useSearch();
  const newest = useApi('GET /v1/backtest', { query: { limit: 1 } });
  const [isOpen, setOpen] = useOpenForm(newest.data && newest.data.jobs.length === 0);
  const isNew = isOpen || from !== undefined;
  return (
    <Page
      title="Backtests"
      about="Replay a strategy on recorded order books with your latency and the venue’s fees and taker delay. Nothing fills inside a gap."
      actions={!isNew && newest.isSuccess && <Button onClick={() => setOpen(true)}>New backtest</Button>}
    >
      <TierLock feature="backtest_jobs" what="Backtests">
        {isNew && (
          <>
            <TierLimits />
            <NewBacktest from={from} />
          </>
        )}
        <Jobs />
      </TierLock>
    </Page>
  );
}

/** The builder, initialised with the request of the job in the address. */
function NewBacktest({ from }: { from: string | undefined }): ReactNode {
  const job = useApi(
    'GET /v1/backtest/{job_id}',
    { path: { job_id: from ?? '' } },
    { enabled: from !== undefined },
  );
  if (from === undefined) return <Builder key="new" first={FIRST_DRAFT} />;
  if (job.isPending) return <Loading />;
  if (job.data === undefined) return <RequestFailure of={job} />;
  return <Builder key={from} first={draftOf(job.data)} />;
}

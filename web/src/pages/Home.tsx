import { Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi, useSession } from '../api/hooks.ts';
import { RequestFailure } from '../ui/RequestFailure.tsx';
import { Loading } from '../ui/states.tsx';

/** Redirects from `/`: to the markets, to the sign-in, or, without an operator, to the sign-up. */
export function Home(): ReactNode {
  const session = useSession();
  if (session.isPending) return <Loading />;
  if (session.data === undefined) return <RequestFailure of={session} />;
  if (session.data === null) return <Entry />;
  return <Navigate to="/live" search={{ ticker: 'BTC' }} replace />;
}

function Entry(): ReactNode {
  const state = useApi('GET /app/sign-up', {});
  if (state.isPending) return <Loading />;
  return <Navigate to={state.data?.has_operator === false ? '/sign-up' : '/sign-in'} replace />;
}

import { Navigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useSession } from '../api/hooks.ts';
import { Failure, Loading } from '../ui/states.tsx';

/** Where the service's bare address leads: to the markets, or to the sign-in. */
export function Home(): ReactNode {
  const session = useSession();
  if (session.isPending) return <Loading />;
  if (session.isError) return <Failure error={session.error} retry={() => void session.refetch()} />;
  return session.data === null ? (
    <Navigate to="/sign-in" replace />
  ) : (
    <Navigate to="/live" search={{ ticker: 'BTC' }} replace />
  );
}

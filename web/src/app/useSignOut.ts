import { useMutation, useMutationState } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { call } from '../api/client.ts';
import { noteSession } from '../api/hooks.ts';
import { ApiProblem } from '../api/problem.ts';

const SIGN_OUT = ['sign-out'];

/** Ends the session and returns to the sign-in; a session that the service did not end goes on. */
export function useSignOut(): { readonly signOut: () => void; readonly isPending: boolean } {
  const navigate = useNavigate();
  const request = useMutation({
    mutationKey: SIGN_OUT,
    mutationFn: endSession,
    // Not as an option of `mutate`: the menu that was chosen from may be closed before the answer.
    onSuccess: async () => {
      // Navigate first: a page in the shell that loses its session becomes the return page of the sign-in.
      await navigate({ to: '/sign-in' });
      noteSession(null);
    },
  });
  return { signOut: () => request.mutate(), isPending: request.isPending };
}

/** Why the last sign-out failed; null without one. */
export function useSignOutError(): Error | null {
  const errors = useMutationState({
    filters: { mutationKey: SIGN_OUT },
    select: ({ state }) => state.error,
  });
  return errors.at(-1) ?? null;
}

async function endSession(): Promise<void> {
  try {
    await call('POST /app/sign-out', {});
  } catch (error) {
    // The session has ended already.
    if (!(error instanceof ApiProblem && error.status === 401)) throw error;
  }
}

import { useNavigate } from '@tanstack/react-router';
import { noteSession, useAction } from '../api/hooks.ts';

/** Ends the session and returns to the sign-in. */
export function useSignOut(): { readonly signOut: () => void; readonly isPending: boolean } {
  const request = useAction('POST /app/sign-out');
  const navigate = useNavigate();
  const signOut = () =>
    request.mutate(
      {},
      {
        // Navigate first: a page in the shell that loses its session becomes the return page of the sign-in.
        onSettled: async () => {
          await navigate({ to: '/sign-in' });
          noteSession(null);
        },
      },
    );
  return { signOut, isPending: request.isPending };
}

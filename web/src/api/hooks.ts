import {
  keepPreviousData,
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { type AnswerOf, call, type InputOf, type OperationName } from './client.ts';
import { ApiProblem } from './problem.ts';
import type { CurrentUser } from './schema.ts';

const FRESH_MS = 10_000;
/** A browser without a network still reaches a service on its own machine; what it thinks of the network is no answer. */
const ASKED_ALWAYS = 'always';

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: ASKED_ALWAYS,
      staleTime: FRESH_MS,
      // The client has tried again where that may help.
      retry: false,
    },
    mutations: { networkMode: ASKED_ALWAYS, retry: false },
  },
});

export interface AskOptions<K extends OperationName> {
  readonly enabled?: boolean;
  readonly refetchMs?: number;
  /** Ends asking again: what was answered will not change any more. */
  readonly isFinal?: (answer: AnswerOf<K>) => boolean;
  /** Shows the answer before while the next is asked for. */
  readonly keep?: boolean;
}

/** What one operation answers, kept and shared by its input. */
export function useApi<K extends OperationName>(
  operation: K,
  input: InputOf<K>,
  { enabled = true, refetchMs, isFinal, keep = false }: AskOptions<K> = {},
): UseQueryResult<AnswerOf<K>, Error> {
  return useQuery<AnswerOf<K>, Error>({
    queryKey: [operation, input],
    queryFn: ({ signal }) => call(operation, input, signal),
    enabled,
    ...(refetchMs === undefined
      ? {}
      : {
          refetchInterval: ({ state: { data } }) =>
            data !== undefined && isFinal?.(data) ? false : refetchMs,
        }),
    ...(keep ? { placeholderData: keepPreviousData } : {}),
  });
}

/** Asks an operation that changes something; what `outdates` names is asked again. */
export function useAction<K extends OperationName>(
  operation: K,
  outdates: readonly OperationName[] = [],
): UseMutationResult<AnswerOf<K>, Error, InputOf<K>> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: InputOf<K>) => call(operation, input),
    onSuccess: async () => {
      await Promise.all(outdates.map((name) => client.invalidateQueries({ queryKey: [name] })));
    },
  });
}

export const SESSION_KEY = ['session'];

/** Who is signed in; null when nobody is. */
export function useSession(): UseQueryResult<CurrentUser['user'] | null, Error> {
  return useQuery({ queryKey: SESSION_KEY, queryFn: findSession, staleTime: 60_000 });
}

/** Set while this browser is signed in, for its other tabs. */
const MARK = 'underround.signed-in';
/**
 * Whether this page was sent to a request with a session, as `src/http/pages/serve.ts` writes into it. The cookie
 * itself no script can read, and to ask where nobody is signed in would be a refusal in the console.
 */
let cameWithSession =
  document.querySelector<HTMLMetaElement>('meta[name="underround-session"]')?.content !== 'none';

/** Begins or ends what this browser knows of a session; nothing kept of another user's stays. */
export function noteSession(user: CurrentUser['user'] | null): void {
  if (user === null) forgetSession();
  else localStorage.setItem(MARK, '1');
  queries.clear();
  queries.setQueryData(SESSION_KEY, user);
}

function forgetSession(): void {
  cameWithSession = false;
  localStorage.removeItem(MARK);
}

async function findSession(): Promise<CurrentUser['user'] | null> {
  if (!cameWithSession && localStorage.getItem(MARK) === null) return null;
  try {
    return (await call('GET /app/me', {})).user;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 401) {
      forgetSession();
      return null;
    }
    throw error;
  }
}

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
import { ApiProblem, isRefusal } from './problem.ts';
import type { CurrentUser } from './schema.ts';

const FRESH_MS = 10_000;
/** A browser without a network still reaches a service on its own machine, so its online state is ignored. */
const ASKED_ALWAYS = 'always';

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: ASKED_ALWAYS,
      staleTime: FRESH_MS,
      // `call` already retries where a retry can help.
      retry: false,
    },
    mutations: { networkMode: ASKED_ALWAYS, retry: false },
  },
});

interface AskOptions<K extends OperationName> {
  readonly enabled?: boolean;
  readonly refetchMs?: number;
  /** Stops polling when true: the answer will not change any more. */
  readonly isFinal?: (answer: AnswerOf<K>) => boolean;
  /** How long an answer is used before it is requested again. */
  readonly freshMs?: number;
  /** Shows the previous answer while the next one loads. */
  readonly keep?: boolean;
}

/** The answer of one operation, cached and shared by its input. */
export function useApi<K extends OperationName>(
  operation: K,
  input: InputOf<K>,
  { enabled = true, refetchMs, isFinal, freshMs, keep = false }: AskOptions<K> = {},
): UseQueryResult<AnswerOf<K>, Error> {
  return useQuery<AnswerOf<K>, Error>({
    queryKey: [operation, input],
    queryFn: ({ signal }) => call(operation, input, signal),
    enabled,
    ...(refetchMs === undefined
      ? {}
      : {
          refetchInterval: ({ state: { data, error } }) =>
            data !== undefined && isFinal?.(data) ? false : pollingMs(error, refetchMs),
        }),
    ...(freshMs === undefined ? {} : { staleTime: freshMs }),
    ...(keep ? { placeholderData: keepPreviousData } : {}),
  });
}

/**
 * The interval of a polled request. False after a refusal: the same request would be refused again, and a page without
 * an answer would show its placeholders at each try.
 */
export function pollingMs(error: Error | null, intervalMs: number): number | false {
  return isRefusal(error) ? false : intervalMs;
}

/** The same for a list: each poll requests all loaded pages, so more pages are polled less often. */
export function listPollingMs(
  { data, error }: { data: { pages: readonly unknown[] } | undefined; error: Error | null },
  intervalMs: number,
): number | false {
  return pollingMs(error, intervalMs * (data?.pages.length ?? 1));
}

/**
 * Calls an operation that changes something, then reloads the operations in `outdates`: also after an error, because the
 * answer may have been lost after the change, or the change was of something that is gone.
 * @param options.isShownOnce The answer has a secret that nothing shows again: the page has it at once, whatever the
 * reload does.
 */
export function useAction<K extends OperationName>(
  operation: K,
  outdates: readonly OperationName[] = [],
  { isShownOnce = false }: { readonly isShownOnce?: boolean } = {},
): UseMutationResult<AnswerOf<K>, Error, InputOf<K>> {
  const client = useQueryClient();
  const reload = () => Promise.all(outdates.map((name) => client.invalidateQueries({ queryKey: [name] })));
  return useMutation({
    mutationFn: (input: InputOf<K>) => call(operation, input),
    onSuccess: () => (isShownOnce ? void reload() : reload()),
    // Not awaited, so that the page shows the error at once.
    onError: () => void reload(),
  });
}

const SESSION_KEY = ['session'];

/** The signed-in user; null without a session. */
export function useSession(): UseQueryResult<CurrentUser['user'] | null, Error> {
  return useQuery({ queryKey: SESSION_KEY, queryFn: findSession, staleTime: 60_000 });
}

/** The id of the user while this browser is signed in, for its other tabs. */
const MARK = 'underround.signed-in';
/**
 * Whether the request for this page had a session; `src/http/pages/serve.ts` writes it into the page. No script can read
 * the cookie itself, and a request without a session would be an error in the console.
 */
let cameWithSession =
  document.querySelector<HTMLMetaElement>('meta[name="underround-session"]')?.content !== 'none';

/** Stores or removes the session's user and clears all cached answers, so that none of another user remains. */
export function noteSession(user: CurrentUser['user'] | null): void {
  if (user === null) forgetSession();
  else localStorage.setItem(MARK, user.user_id);
  forgetAnswers();
  queries.getMutationCache().clear();
  queries.setQueryData(SESSION_KEY, user);
}

/** All but the session: the shell watches it. */
function forgetAnswers(): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
}

function forgetSession(): void {
  cameWithSession = false;
  localStorage.removeItem(MARK);
}

// Another tab has signed out or in: all tabs have one session, and what this one shows may be another user's.
window.addEventListener('storage', ({ key, newValue }) => {
  if (key !== MARK) return;
  if (newValue === null) noteSession(null);
  else void queries.invalidateQueries({ queryKey: SESSION_KEY });
});

async function findSession(): Promise<CurrentUser['user'] | null> {
  if (!cameWithSession && localStorage.getItem(MARK) === null) return null;
  try {
    const { user } = await call('GET /app/me', {});
    const known = queries.getQueryData<CurrentUser['user'] | null>(SESSION_KEY);
    if (known && known.user_id !== user.user_id) forgetAnswers();
    return user;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 401) {
      forgetSession();
      return null;
    }
    throw error;
  }
}

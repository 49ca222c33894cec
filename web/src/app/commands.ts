import { useMantineColorScheme } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useApi, useSession } from '../api/hooks.ts';
import { moment, WINDOW_NAMES } from '../ui/format.ts';
import { NAVIGATION } from './navigation.ts';
import { useSignOut } from './useSignOut.ts';

export interface Command {
  readonly id: string;
  readonly label: string;
  readonly kind: 'page' | 'market' | 'action';
  readonly run: () => void;
}

/** Everything that the palette finds: pages, windows that have not ended, and actions. */
export function useCommands(): readonly Command[] {
  const { data: user } = useSession();
  const navigate = useNavigate();
  const { setColorScheme } = useMantineColorScheme();
  const { signOut } = useSignOut();
  const windows = useApi('GET /app/live', {}, { freshMs: 60_000 });
  const pages = NAVIGATION.filter(({ to }) => user?.operator || String(to) !== '/operator');
  return [
    ...pages.map(({ to, label }): Command => {
      return { id: to, label, kind: 'page', run: () => void navigate({ to } as never) };
    }),
    ...(windows.data?.windows ?? []).map(({ market_id, ticker, market_type, end_time }): Command => {
      return {
        id: market_id,
        label: `${ticker} ${WINDOW_NAMES[market_type]}, ends ${moment(end_time)} UTC`,
        kind: 'market',
        run: () => void navigate({ to: '/markets/$marketId', params: { marketId: market_id } } as never),
      };
    }),
    { id: 'light', label: 'Use light colours', kind: 'action', run: () => setColorScheme('light') },
    { id: 'dark', label: 'Use dark colours', kind: 'action', run: () => setColorScheme('dark') },
    {
      id: 'auto',
      label: 'Use the colours of this device',
      kind: 'action',
      run: () => setColorScheme('auto'),
    },
    {
      id: 'docs',
      label: 'API reference',
      kind: 'page',
      run: () => window.location.assign('/docs/reference'),
    },
    { id: 'sign-out', label: 'Sign out', kind: 'action', run: signOut },
  ];
}

/** Commands whose label has every typed word, the ones that begin with the text first. */
export function matching(commands: readonly Command[], text: string): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = commands.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
  const first = words[0];
  if (first === undefined) return found;
  const rank = ({ label }: Command) => (label.toLowerCase().startsWith(first) ? 0 : 1);
  return found.toSorted((a, b) => rank(a) - rank(b));
}

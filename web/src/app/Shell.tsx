import {
  Alert,
  AppShell,
  Box,
  Burger,
  Button,
  Group,
  Kbd,
  NavLink,
  Skeleton,
  Stack,
  Text,
  VisuallyHidden,
} from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { Link, Navigate, Outlet, useRouterState } from '@tanstack/react-router';
import {
  type Dispatch,
  lazy,
  type ReactNode,
  type SetStateAction,
  Suspense,
  useEffect,
  useState,
} from 'react';
import { useSession } from '../api/hooks.ts';
import type { CurrentUser } from '../api/schema.ts';
import { LineIcon } from '../ui/LineIcon.tsx';
import { RequestFailure } from '../ui/RequestFailure.tsx';
import { AccountMenu } from './AccountMenu.tsx';
import { Brand } from './Brand.tsx';
import { DataSourceBadge } from './DataSourceBadge.tsx';
import { HistoryBar } from './HistoryBar.tsx';
import { NAVIGATION } from './navigation.ts';
import { useRowKeys } from './rowKeys.ts';
import { SchemeToggle } from './SchemeToggle.tsx';
import { useSignOutError } from './useSignOut.ts';

/** Header and navigation around the pages of a signed-in user. Without a session it redirects to the sign-in and back. */
export function Shell(): ReactNode {
  const session = useSession();
  const href = useRouterState({ select: (state) => state.location.href });
  // The page to return to after the sign-in: the last page shown with a session. The redirect does not change it.
  const [asked, setAsked] = useState(href);
  if (session.data && asked !== href && !href.startsWith('/sign-in')) setAsked(href);
  if (session.isPending) return <ShellFrame />;
  if (session.data === undefined) return <RequestFailure of={session} />;
  if (session.data === null) return <Navigate to="/sign-in" search={{ next: asked }} replace />;
  // Another user begins with new pages: nothing that was typed or shown for the last one stays.
  return <SignedInShell key={session.data.user_id} user={session.data} />;
}

const FIND_FIELD_ID = 'find';

/** Loaded when it is first opened: few visits need it. */
const CommandPalette = lazy(async () => ({
  default: (await import('./CommandPalette.tsx')).CommandPalette,
}));

function SignedInShell({ user }: { user: CurrentUser['user'] }): ReactNode {
  const [opened, { toggle, close }] = useDisclosure();
  const [isFinding, { open: find, close: endFinding }] = useDisclosure();
  const [findText, setFindText] = useState('');
  const startFinding = () => {
    if (!isFinding) setFindText('');
    find();
  };
  useHotkeys([['mod+K', startFinding]], []);
  useTypedAhead(isFinding, setFindText);
  useRowKeys();
  const path = useRouterState({ select: (state) => state.location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when a page is chosen from it
  useEffect(close, [path, close]);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 208, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <AppShell.Header>
        <Group h="100%" px={{ base: 'xs', sm: 'md' }} gap="xs" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
            <Brand isShortOnPhones />
            <DataSourceBadge />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Button variant="default" size="sm" px="xs" onClick={startFinding} aria-haspopup="dialog">
              <Box hiddenFrom="sm" display="flex">
                <SearchIcon />
              </Box>
              <VisuallyHidden hiddenFrom="md">Find</VisuallyHidden>
              <Text span size="sm" c="dimmed" visibleFrom="md" mr={8}>
                Find
              </Text>
              <Kbd size="xs" visibleFrom="sm">
                Ctrl K
              </Kbd>
            </Button>
            <AccountMenu user={user} />
            <SchemeToggle />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        {NAVIGATION.filter((entry) => user.operator || String(entry.to) !== '/operator').map(
          ({ to, label }) => (
            <NavLink
              key={to}
              label={label}
              variant="filled"
              active={path === to || path.startsWith(`${to}/`)}
              renderRoot={(props) => <Link to={to} {...props} />}
            />
          ),
        )}
        <NavLink label="API reference" href="/docs/reference" mt="auto" />
      </AppShell.Navbar>
      <AppShell.Main id="main">
        <SignOutProblem />
        <HistoryBar />
        <Outlet />
      </AppShell.Main>
      {isFinding && (
        <Suspense fallback={null}>
          <CommandPalette fieldId={FIND_FIELD_ID} text={findText} setText={setFindText} close={endFinding} />
        </Suspense>
      )}
    </AppShell>
  );
}

/** A sign-out that failed: who leaves the machine to others must know. */
function SignOutProblem(): ReactNode {
  const error = useSignOutError();
  if (error === null) return null;
  return (
    <Alert color="red" role="alert" mb="md" title="You are still signed in">
      {error.message}
    </Alert>
  );
}

/** Keeps what a reader types before the palette has loaded and has the focus. */
function useTypedAhead(isFinding: boolean, setText: Dispatch<SetStateAction<string>>): void {
  useEffect(() => {
    if (!isFinding) return;
    const keep = (event: KeyboardEvent) => {
      const isTyped = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
      const isInPalette = event.target instanceof Element && event.target.id === FIND_FIELD_ID;
      if (isInPalette || (!isTyped && event.key !== 'Backspace')) return;
      event.preventDefault();
      event.stopPropagation();
      setText((before) => (isTyped ? before + event.key : before.slice(0, -1)));
    };
    // Before the page's own keys, such as `j`, and before a field that still has the focus.
    window.addEventListener('keydown', keep, { capture: true });
    return () => window.removeEventListener('keydown', keep, { capture: true });
  }, [isFinding, setText]);
}

/** On a phone in place of the keys, which it does not have. */
function SearchIcon(): ReactNode {
  return (
    <LineIcon size={18}>
      <path d="M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13Zm4.8 11.3L21 21" />
    </LineIcon>
  );
}

/** Header, navigation and an empty page, in their places until the user is known. */
function ShellFrame(): ReactNode {
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 208, breakpoint: 'sm', collapsed: { mobile: true } }}
      padding="md"
    >
      <AppShell.Header>
        <Group h="100%" px={{ base: 'xs', sm: 'md' }}>
          <Brand isShortOnPhones />
          <DataSourceBadge />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        {NAVIGATION.map(({ to }) => (
          <Skeleton key={to} height={18} width="55%" mx={12} my={11} />
        ))}
      </AppShell.Navbar>
      <AppShell.Main role="status" aria-label="Loading">
        <Stack gap="md">
          <Skeleton height={30} width={180} />
          <Skeleton height={220} />
        </Stack>
      </AppShell.Main>
    </AppShell>
  );
}

import { AppShell, Badge, Burger, Group, NavLink, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, Navigate, Outlet, useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { useSession } from '../api/hooks.ts';
import { Failure, Loading } from '../ui/states.tsx';
import { Brand } from './Brand.tsx';
import { DataSourceBadge } from './DataSourceBadge.tsx';
import { HistoryBar } from './HistoryBar.tsx';
import { NAVIGATION } from './navigation.ts';
import { SchemeToggle } from './SchemeToggle.tsx';

/** Header and navigation around the pages of a signed-in user. Without a session it redirects to the sign-in and back. */
export function Shell(): ReactNode {
  const session = useSession();
  const href = useRouterState({ select: (state) => state.location.href });
  // The page to return to after the sign-in: the last page shown with a session. The redirect does not change it.
  const [asked, setAsked] = useState(href);
  if (session.data && asked !== href && !href.startsWith('/sign-in')) setAsked(href);
  if (session.isPending) return <Loading />;
  if (session.isError) return <Failure error={session.error} retry={() => void session.refetch()} />;
  if (session.data === null) return <Navigate to="/sign-in" search={{ next: asked }} replace />;
  return (
    <SignedInShell email={session.data.email} tier={session.data.tier} operator={session.data.operator} />
  );
}

function SignedInShell({
  email,
  tier,
  operator,
}: {
  email: string;
  tier: string;
  operator: boolean;
}): ReactNode {
  const [opened, { toggle, close }] = useDisclosure();
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
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
            <Brand />
            <DataSourceBadge />
          </Group>
          <Group gap="sm" wrap="nowrap">
            <Text size="sm" c="dimmed" visibleFrom="sm">
              {email}
            </Text>
            <Badge variant="outline" visibleFrom="sm">
              {tier}
            </Badge>
            <SchemeToggle />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        {NAVIGATION.filter((entry) => operator || String(entry.to) !== '/operator').map(({ to, label }) => (
          <NavLink
            key={to}
            label={label}
            variant="filled"
            active={path === to || path.startsWith(`${to}/`)}
            renderRoot={(props) => <Link to={to} {...props} />}
          />
        ))}
        <NavLink label="API reference" href="/docs" mt="auto" />
      </AppShell.Navbar>
      <AppShell.Main id="main">
        <HistoryBar />
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}

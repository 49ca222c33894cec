import { Badge, Button, Menu, Text, VisuallyHidden } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { CurrentUser } from '../api/schema.ts';
import { useSignOut } from './useSignOut.ts';

/** The signed-in user with their tier; opens account, keys and sign-out. */
export function AccountMenu({ user }: { user: CurrentUser['user'] }): ReactNode {
  const { signOut, isPending } = useSignOut();
  return (
    <Menu position="bottom-end" withinPortal={false}>
      <Menu.Target>
        <Button variant="default" size="sm" px="xs" loading={isPending}>
          <VisuallyHidden>Account of {user.email},</VisuallyHidden>
          <Text span size="sm" aria-hidden visibleFrom="sm" mr={8} maw={220} truncate>
            {user.email}
          </Text>
          <Badge variant="outline">{user.tier}</Badge>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{user.email}</Menu.Label>
        <Menu.Item renderRoot={(props) => <Link to="/account" {...props} />}>Account</Menu.Item>
        <Menu.Item renderRoot={(props) => <Link to="/keys" {...props} />}>API keys</Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={signOut}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

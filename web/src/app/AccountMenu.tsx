import { Badge, Box, Button, Menu, Text, VisuallyHidden } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { CurrentUser } from '../api/schema.ts';
import { LineIcon } from '../ui/LineIcon.tsx';
import { useSignOut } from './useSignOut.ts';

/** The signed-in user with their tier; opens account, keys and sign-out. */
export function AccountMenu({ user }: { user: CurrentUser['user'] }): ReactNode {
  const { signOut, isPending } = useSignOut();
  return (
    <Menu position="bottom-end" withinPortal={false}>
      <Menu.Target>
        <Button variant="default" size="sm" px="xs" loading={isPending}>
          <VisuallyHidden>Account of {user.email},</VisuallyHidden>
          <Box hiddenFrom="sm" display="flex">
            <PersonIcon />
          </Box>
          <Text span size="sm" aria-hidden visibleFrom="sm" mr={8} maw={220} truncate>
            {user.email}
          </Text>
          <Badge variant="outline" visibleFrom="sm">
            {user.tier}
          </Badge>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {user.email}{' '}
          <Badge variant="outline" hiddenFrom="sm">
            {user.tier}
          </Badge>
        </Menu.Label>
        <Menu.Item renderRoot={(props) => <Link to="/account" {...props} />}>Account</Menu.Item>
        <Menu.Item renderRoot={(props) => <Link to="/keys" {...props} />}>API keys</Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={signOut}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** On a phone in place of the address and the tier, which its menu names. */
function PersonIcon(): ReactNode {
  return (
    <LineIcon size={18}>
      <path d="M12 3a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9ZM4 21a8 8 0 0 1 16 0" />
    </LineIcon>
  );
}

import { Anchor, Button, List, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useSession } from '../api/hooks.ts';
import { Page } from '../ui/Page.tsx';
import { NewKey } from './keys/NewKey.tsx';

/** First steps: an API key, a first request, and links. */
export function Welcome(): ReactNode {
  const { data: user } = useSession();
  return (
    <Page
      title="Welcome"
      about={
        user?.operator
          ? 'Your account is the first, so you are the operator: you can set tiers and put the service into maintenance.'
          : `Your tier is ${user?.tier ?? 'free'}; the operator can raise it.`
      }
    >
      <Stack className="card" p="lg" gap="sm">
        <Text fw={600} component="h2">
          1. Make an API key
        </Text>
        <NewKey suggested="my first key" />
      </Stack>
      <Stack className="card" p="lg" gap="sm">
        <Text fw={600} component="h2">
          2. Look around
        </Text>
        <List spacing={4}>
          {user?.operator && user.tier !== 'premium' && (
            <List.Item>
              <Link to="/operator">Operator</Link>: your own tier is {user.tier}, which limits your requests
              too; set another one beside your address
            </List.Item>
          )}
          <List.Item>
            <Link to="/account">Your account</Link>: password, sessions, and what your tier includes
          </List.Item>
          <List.Item>
            <Anchor href="/docs" underline="always">
              Documentation
            </Anchor>
            : quick start, concepts and recipes
          </List.Item>
          <List.Item>
            <Anchor href="/docs/reference" underline="always">
              API reference
            </Anchor>
            : every call, with its parameters and answers
          </List.Item>
        </List>
        <div>
          <Button renderRoot={(props) => <Link to="/" {...props} />}>Go to the live page</Button>
        </div>
      </Stack>
    </Page>
  );
}

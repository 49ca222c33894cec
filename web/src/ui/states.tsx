import { Anchor, Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ApiProblem } from '../api/problem.ts';

/** Placeholder rows while data load. */
export function Loading({ rows = 5 }: { rows?: number }): ReactNode {
  return (
    <Stack gap="xs" role="status" aria-label="Loading" p="md">
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: equal rows that never move
        <Skeleton key={index} height={18} width={`${100 - (index % 3) * 12}%`} />
      ))}
    </Stack>
  );
}

/** An empty result, with the reason and the next step. */
export function Empty({ title, children }: { title: string; children?: ReactNode }): ReactNode {
  return (
    <Stack align="center" gap="xs" py="xl" px="md" ta="center">
      <Title order={2} size="h4">
        {title}
      </Title>
      {children !== undefined && (
        <Text component="div" c="dimmed" maw={520}>
          {children}
        </Text>
      )}
    </Stack>
  );
}

/** A refusal or a failure in plain words, with the next step. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }): ReactNode {
  const status = error instanceof ApiProblem ? error.status : null;
  const { title, next } = adviceFor(status);
  return (
    <Stack align="center" gap="xs" py="xl" px="md" ta="center" role="alert">
      <Title order={2} size="h4">
        {title}
      </Title>
      <Text maw={560}>{error instanceof Error ? error.message : 'Something went wrong'}</Text>
      <Text component="div" c="dimmed" maw={560}>
        {next}
      </Text>
      {retry !== undefined && status !== 403 && (
        <Group>
          <Button variant="default" onClick={retry}>
            Try again
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function adviceFor(status: number | null): { title: string; next: ReactNode } {
  switch (status) {
    case 401:
      return { title: 'You are signed out', next: <Anchor href="/sign-in">Sign in again</Anchor> };
    case 403:
      return {
        title: 'Not in your tier',
        next: (
          <>
            The operator of this service sets tiers. <Link to="/account">Your account</Link> shows yours and
            what it includes.
          </>
        ),
      };
    case 404:
      return { title: 'Not found', next: 'It may have been removed, or the address is mistyped.' };
    case 429:
      return { title: 'Too many requests', next: 'Wait a moment, then try again.' };
    case 502:
      return { title: 'The store does not answer', next: 'Recording continues; try again in a few seconds.' };
    case 503:
      return { title: 'Closed for maintenance', next: 'The service returns after maintenance.' };
    default:
      return { title: 'The request failed', next: 'If the problem persists, see the service’s log.' };
  }
}

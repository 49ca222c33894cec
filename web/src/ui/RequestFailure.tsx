import { Alert, Button, Group, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isRefusal } from '../api/problem.ts';
import { moment } from './format.ts';
import { Failure } from './states.tsx';

type Request = Pick<UseQueryResult<unknown, Error>, 'data' | 'error' | 'dataUpdatedAt' | 'refetch'>;

/**
 * The last answer of a request. It stays while newer tries fail, with what the reader does in it; undefined before the
 * first answer and after a refusal, e.g. because the session has ended.
 */
export function lastAnswer<T>({ data, error }: { data: T | undefined; error: Error | null }): T | undefined {
  return isRefusal(error) ? undefined : data;
}

/** Why a request failed: in place of its answer, or above the last one with its time. Nothing after a success. */
export function RequestFailure({ of }: { of: Request }): ReactNode {
  const { error, dataUpdatedAt } = of;
  if (error === null) return null;
  const retry = () => void of.refetch();
  if (lastAnswer(of) === undefined) return <Failure error={error} retry={retry} />;
  return (
    <Alert color="orange" role="alert" title={`Not updated since ${moment(dataUpdatedAt)} UTC`}>
      <Group justify="space-between" gap="sm">
        <Text size="sm">{error.message}</Text>
        <Button size="xs" variant="default" onClick={retry}>
          Try again
        </Button>
      </Group>
    </Alert>
  );
}

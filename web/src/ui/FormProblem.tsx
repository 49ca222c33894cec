import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import { ApiProblem } from '../api/problem.ts';

const NONE: ReadonlyMap<string, string> = new Map();

/** What the service has against single fields, by their place; nothing while it has not refused. */
export function fieldsOf(error: Error | null): ReadonlyMap<string, string> {
  return error instanceof ApiProblem ? error.fields : NONE;
}

/** Why a form was refused. What is said beside its fields is not said again, unless it has none to say it at. */
export function FormProblem({
  error,
  hasFields = true,
}: {
  error: Error | null;
  hasFields?: boolean;
}): ReactNode {
  if (error === null) return null;
  const isBeside = hasFields && fieldsOf(error).size > 0;
  return <Alert color="red" role="alert" title={isBeside ? 'Correct the marked fields' : error.message} />;
}

import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import { ApiProblem } from '../api/problem.ts';

const NONE: ReadonlyMap<string, string> = new Map();

/** The service's errors by field; empty without a refusal. */
export function fieldsOf(error: Error | null): ReadonlyMap<string, string> {
  return error instanceof ApiProblem ? error.fields : NONE;
}

/** Why a form was refused. Errors shown beside fields are not repeated, unless the form has no such field. */
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

import { Alert } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { ApiProblem } from '../api/problem.ts';

const NONE: ReadonlyMap<string, string> = new Map();

/** The service's errors by field; empty without a refusal. */
export function fieldsOf(error: Error | null): ReadonlyMap<string, string> {
  return error instanceof ApiProblem ? error.fields : NONE;
}

interface ShownProblem {
  /** Messages of the fields that have not changed since the refusal. */
  readonly fields: ReadonlyMap<string, string>;
  /** The refusal; null once every field that it names has changed, or any field if it names none. */
  readonly error: Error | null;
  /** Removes the messages of a field and of the fields within it, e.g. `params` also removes `params.latency_ms`. */
  readonly change: (field: string) => void;
}

/** The refusal of a form, without the messages of fields that changed since. */
export function useShownProblem(refusal: Error | null): ShownProblem {
  const [seen, setSeen] = useState<{ of: Error | null; changed: readonly string[] }>({
    of: null,
    changed: [],
  });
  const changed = seen.of === refusal ? seen.changed : [];
  const all = fieldsOf(refusal);
  const isOld = (name: string) => changed.some((one) => name === one || name.startsWith(`${one}.`));
  const fields = new Map([...all].filter(([name]) => !isOld(name)));
  const isOver = all.size > 0 ? fields.size === 0 : changed.length > 0;
  return {
    fields,
    error: isOver ? null : refusal,
    change: (field) => {
      if (refusal !== null) setSeen({ of: refusal, changed: [...changed, field] });
    },
  };
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

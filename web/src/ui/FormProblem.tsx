import { Alert } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { ApiProblem } from '../api/problem.ts';
import { changedFields } from './changedFields.ts';

const NONE: ReadonlyMap<string, string> = new Map();

/** The service's errors by field; empty without a refusal. */
function fieldsOf(error: Error | null): ReadonlyMap<string, string> {
  return error instanceof ApiProblem ? error.fields : NONE;
}

interface ShownProblem {
  /** Messages of the fields that have not changed since the refusal. */
  readonly fields: ReadonlyMap<string, string>;
  /** The refusal; null once every field that it names has changed, or any field if it names none. */
  readonly error: Error | null;
  /** Removes the messages of fields and of the fields within them, e.g. `params` also removes `params.latency_ms`. */
  readonly change: (...fields: readonly string[]) => void;
  /** The same for every field that differs between two requests. */
  readonly compare: (before: object, after: object) => void;
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
  const note = (names: readonly string[]) => {
    if (refusal !== null) setSeen({ of: refusal, changed: [...changed, ...names] });
  };
  return {
    fields,
    error: isOver ? null : refusal,
    change: (...names) => note(names),
    compare: (before, after) =>
      note(all.size > 0 ? changedFields(fields.keys(), { before, after }) : Object.keys(after)),
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

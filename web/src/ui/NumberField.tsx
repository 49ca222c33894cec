import { NumberInput } from '@mantine/core';
import type { ReactNode } from 'react';

/** A number of a form. An unfinished one is handed on as the text it is, so that the service says what is wrong with it. */
export function NumberField({
  label,
  value,
  change,
  error,
  step = 1,
  w = 150,
}: {
  label: string;
  value: number;
  change: (value: number) => void;
  error?: string | undefined;
  step?: number;
  w?: number;
}): ReactNode {
  return (
    <NumberInput
      label={label}
      w={w}
      step={step}
      value={value}
      onChange={(given) => change(given as number)}
      error={error}
    />
  );
}

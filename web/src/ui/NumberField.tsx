import { NumberInput } from '@mantine/core';
import type { ReactNode } from 'react';

/** A number field. Invalid input is passed on as text, so that the service reports the error. */
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

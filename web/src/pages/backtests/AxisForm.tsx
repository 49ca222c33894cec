import { Group, NativeSelect, NumberInput } from '@mantine/core';
import type { ReactNode } from 'react';

export interface Axis {
  readonly param: string;
  readonly start: number;
  readonly end: number;
  readonly steps: number;
}

/** Which number a sweep varies, from where to where. */
export function AxisForm({
  axis,
  params,
  change,
}: {
  axis: Axis;
  params: readonly string[];
  change: (axis: Axis) => void;
}): ReactNode {
  const number = (label: string, name: 'start' | 'end' | 'steps') => (
    <NumberInput
      label={label}
      w={120}
      value={axis[name]}
      onChange={(value) => change({ ...axis, [name]: Number(value) })}
    />
  );
  return (
    <Group align="flex-start">
      <NativeSelect
        label="Vary"
        w={160}
        data={[...params]}
        value={axis.param}
        onChange={(event) => change({ ...axis, param: event.currentTarget.value })}
      />
      {number('From', 'start')}
      {number('To', 'end')}
      {number('Steps', 'steps')}
    </Group>
  );
}

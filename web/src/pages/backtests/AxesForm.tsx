import { Button, Group, NativeSelect, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useLimits } from '../../strategy/TierLimits.tsx';
import { NumberField } from '../../ui/NumberField.tsx';
import { type Axis, type Draft, firstAxis, sweepable } from './draft.ts';

interface AxesProps {
  readonly draft: Draft;
  readonly change: (draft: Draft) => void;
  readonly errors: ReadonlyMap<string, string>;
}

/** The axes of a sweep: none, one number, or two numbers. */
export function AxesForm({ draft, change, errors }: AxesProps): ReactNode {
  const { x_axis: x, y_axis: y, ...rest } = draft;
  const names = sweepable(draft.strategy);
  const limits = useLimits();
  const cellsMax = limits?.own.sweep_cells;
  const free = Object.keys(names).find((name) => name !== x?.param && name !== y?.param) ?? 'size_usd';
  if (x === undefined) {
    return (
      <Group>
        <Button
          variant="default"
          size="xs"
          disabled={cellsMax === 0}
          onClick={() => change({ ...draft, x_axis: firstAxis(free) })}
        >
          Sweep a parameter
        </Button>
        {cellsMax === 0 && (
          <Text size="sm" c="dimmed">
            Sweeps are not in tier {limits?.tier}.
          </Text>
        )}
      </Group>
    );
  }
  const cells = x.steps * (y?.steps ?? 1);
  return (
    <>
      <AxisForm
        place="x_axis"
        label="First axis"
        axis={x}
        names={names}
        errors={errors}
        change={(x_axis) => change({ ...draft, x_axis })}
      />
      {y !== undefined && (
        <AxisForm
          place="y_axis"
          label="Second axis"
          axis={y}
          names={names}
          errors={errors}
          change={(y_axis) => change({ ...draft, y_axis })}
        />
      )}
      <Group gap="xs">
        {y === undefined ? (
          <Button variant="default" size="xs" onClick={() => change({ ...draft, y_axis: firstAxis(free) })}>
            Add a second axis
          </Button>
        ) : (
          <Button variant="default" size="xs" onClick={() => change({ ...rest, x_axis: x })}>
            Remove the second axis
          </Button>
        )}
        <Button variant="default" size="xs" onClick={() => change(rest)}>
          Remove the sweep
        </Button>
        {Number.isFinite(cells) && <span>{cells.toLocaleString('en')} cells</span>}
        {cellsMax !== undefined && cells > cellsMax && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            Tier {limits?.tier} allows {cellsMax.toLocaleString('en')} in a sweep.
          </Text>
        )}
      </Group>
    </>
  );
}

function AxisForm({
  place,
  axis,
  names,
  errors,
  label,
  change,
}: {
  place: 'x_axis' | 'y_axis';
  axis: Axis;
  names: Readonly<Record<string, string>>;
  errors: ReadonlyMap<string, string>;
  label: string;
  change: (axis: Axis) => void;
}): ReactNode {
  const number = (text: string, name: 'start' | 'end' | 'steps', step: number) => (
    <NumberField
      label={text}
      w={120}
      step={step}
      value={axis[name]}
      change={(value) => change({ ...axis, [name]: value })}
      error={errors.get(`${place}.${name}`)}
    />
  );
  const step = Math.abs(axis.end) > 5 ? 1 : 0.05;
  return (
    <Group align="flex-start" role="group" aria-label={label}>
      <NativeSelect
        label="Vary"
        w={220}
        data={Object.entries(names).map(([value, text]) => ({ value, label: text }))}
        value={axis.param}
        onChange={(event) => change(firstAxis(event.currentTarget.value))}
        error={errors.get(`${place}.param`)}
      />
      {number('From', 'start', step)}
      {number('To', 'end', step)}
      {number('Steps', 'steps', 1)}
    </Group>
  );
}

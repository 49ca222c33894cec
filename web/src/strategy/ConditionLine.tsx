import { Button, Group, NativeSelect, NumberInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { type Condition, isOfToken, METRIC_NAMES, OPERATOR_NAMES, withMetric } from './strategies.ts';

const TOKENS = [
  { value: 'own', label: 'of the token it buys' },
  { value: 'yes', label: 'of Up' },
  { value: 'no', label: 'of Down' },
];

/** The fields of one condition. */
export function ConditionLine({
  title,
  condition,
  change,
  errorOf,
  children,
}: {
  title: string;
  condition: Condition;
  change: (condition: Condition) => void;
  /** The service's error at a member of the condition. */
  errorOf: (member: keyof Condition) => string | undefined;
  /** Its buttons. */
  children: ReactNode;
}): ReactNode {
  const { metric, operator, value, token = 'own', window_s: seconds } = condition;
  const setToken = (given: string) => {
    const { token: _, ...rest } = condition;
    change(given === 'own' ? rest : { ...rest, token: given as 'yes' | 'no' });
  };
  return (
    <Group mb="xs" gap="xs" align="flex-start">
      <NativeSelect
        aria-label={`${title}: what`}
        data={Object.entries(METRIC_NAMES).map(([name, label]) => ({ value: name, label }))}
        value={metric}
        onChange={(event) => change(withMetric(condition, event.currentTarget.value as Condition['metric']))}
        error={errorOf('metric')}
      />
      {isOfToken(metric) && (
        <NativeSelect
          aria-label={`${title}: token`}
          data={TOKENS}
          value={token}
          onChange={(event) => setToken(event.currentTarget.value)}
          error={errorOf('token')}
        />
      )}
      {seconds !== undefined && (
        <NumberInput
          aria-label={`${title}: seconds`}
          w={110}
          suffix=" s"
          value={seconds}
          onChange={(given) => change({ ...condition, window_s: given as number })}
          error={errorOf('window_s')}
        />
      )}
      <NativeSelect
        aria-label={`${title}: how`}
        data={Object.entries(OPERATOR_NAMES).map(([name, label]) => ({ value: name, label }))}
        value={operator}
        onChange={(event) =>
          change({ ...condition, operator: event.currentTarget.value as Condition['operator'] })
        }
        error={errorOf('operator')}
      />
      <NumberInput
        aria-label={`${title}: value`}
        w={130}
        step={0.05}
        value={value}
        onChange={(given) => change({ ...condition, value: given as number })}
        error={errorOf('value')}
      />
      {children}
    </Group>
  );
}

/** A button of a condition. */
export function LineButton({
  text,
  about,
  press,
}: {
  text: string;
  about: string;
  press: () => void;
}): ReactNode {
  return (
    <Button size="xs" variant="default" onClick={press} aria-label={about}>
      {text}
    </Button>
  );
}

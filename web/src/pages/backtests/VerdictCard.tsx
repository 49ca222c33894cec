import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './VerdictCard.module.css';
import type { Verdict } from './verdict.ts';

/** The verdict on a result, and behind a button what it follows from. */
export function VerdictCard({ verdict, children }: { verdict: Verdict; children: ReactNode }): ReactNode {
  const { tone, text, cautions } = verdict;
  return (
    <Stack className={`card ${classes[tone]}`} p="md" gap={6} component="section" aria-label="Verdict">
      <Text component="h2" fw={650} size="lg">
        {text}
      </Text>
      {cautions.map((caution) => (
        <Text key={caution} size="sm">
          {caution}
        </Text>
      ))}
      <details className={classes.details}>
        <summary>Details</summary>
        {children}
      </details>
    </Stack>
  );
}

import { SimpleGrid, type SimpleGridProps, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Label, value, and where it helps a note on the meaning. */
export type Figure = readonly [what: string, value: string, meaning?: string | undefined];

interface FiguresProps {
  readonly figures: readonly Figure[];
  readonly cols?: SimpleGridProps['cols'];
  /** Large, for pages with few figures. */
  readonly size?: 'lg';
}

/** Key figures at the top of a result. */
export function Figures({ figures, cols = { base: 2, sm: 3, lg: 6 }, size }: FiguresProps): ReactNode {
  return (
    <SimpleGrid component="dl" className="card" m={0} p="md" cols={cols}>
      {figures.map(([what, value, meaning]) => (
        <div key={what}>
          <Text component="dt" size="xs" c="dimmed">
            {what}
          </Text>
          <Text component="dd" fw={650} m={0} {...(size ? { size } : {})}>
            {value}
          </Text>
          {meaning !== undefined && (
            <Text component="dd" size="xs" c="dimmed" m={0}>
              {meaning}
            </Text>
          )}
        </div>
      ))}
    </SimpleGrid>
  );
}

import { Group, SimpleGrid, Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';

/** Places of equal parts that never move, as keys of a list. */
const places = (count: number) => Array.from({ length: count }, (_, place) => place);

/** The frame of a table while its rows load. */
export function TableFrame({ rows = 6, columns = 4 }: { rows?: number; columns?: number }): ReactNode {
  return (
    <Stack gap={0} role="status" aria-label="Loading">
      {places(rows + 1).map((row) => (
        <Group
          key={row}
          gap="md"
          wrap="nowrap"
          px={12}
          h={38}
          style={{ borderBottom: '1px solid var(--line)' }}
        >
          {places(columns).map((column) => (
            <div key={column} style={{ flex: column === 0 ? 2 : 1 }}>
              <Skeleton height={row === 0 ? 9 : 13} width={`${85 - ((row + column) % 3) * 15}%`} />
            </div>
          ))}
        </Group>
      ))}
    </Stack>
  );
}

/** The frame of a row of key figures. */
export function FiguresFrame({ count = 6 }: { count?: number }): ReactNode {
  return (
    <SimpleGrid className="card" p="md" cols={{ base: 2, sm: 3, lg: 6 }} role="status" aria-label="Loading">
      {places(count).map((figure) => (
        <Stack key={figure} gap={8}>
          <Skeleton height={9} width="60%" />
          <Skeleton height={16} width="80%" />
        </Stack>
      ))}
    </SimpleGrid>
  );
}

/** The frame of cards with a heading and a few lines each. */
export function CardsFrame({ count = 4, height = 180 }: { count?: number; height?: number }): ReactNode {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} role="status" aria-label="Loading">
      {places(count).map((card) => (
        <Stack key={card} className="card" p="md" gap="sm" mih={height}>
          <Group justify="space-between">
            <Skeleton height={16} width="35%" />
            <Skeleton height={16} width={60} />
          </Group>
          <Skeleton height={11} width="90%" />
          <Skeleton height={11} width="75%" />
          <Skeleton height={11} width="80%" />
        </Stack>
      ))}
    </SimpleGrid>
  );
}

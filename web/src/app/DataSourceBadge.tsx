import { Badge } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { WARNING_COLOUR } from '../theme.ts';

/** Says when what is shown is no market's: every answer of such a service is marked by a header. */
export function DataSourceBadge(): ReactNode {
  const source = useQuery({
    queryKey: ['data-source'],
    queryFn: async ({ signal }) => (await fetch('/livez', { signal })).headers.get('x-data-source'),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!source.data) return null;
  return (
    <Badge color={WARNING_COLOUR} variant="filled">
      {source.data}
    </Badge>
  );
}

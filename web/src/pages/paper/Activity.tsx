import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';

/** Whether a paper strategy trades. */
export function Activity({ isActive }: { isActive: boolean }): ReactNode {
  return <Badge color={isActive ? 'teal.9' : 'gray.7'}>{isActive ? 'trading' : 'paused'}</Badge>;
}

import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import type { ReactNode } from 'react';

export function SchemeToggle(): ReactNode {
  const { setColorScheme } = useMantineColorScheme();
  const shown = useComputedColorScheme('light');
  const other = shown === 'light' ? 'dark' : 'light';
  return (
    <ActionIcon
      variant="default"
      size="lg"
      onClick={() => setColorScheme(other)}
      aria-label={`Use ${other} colours`}
    >
      <svg width="18" height="18" viewBox="0 0 24 24" aria-hidden="true" fill="currentColor">
        <path d="M12 3a9 9 0 1 0 0 18Zm0-2a11 11 0 1 1 0 22 11 11 0 0 1 0-22Z" />
      </svg>
    </ActionIcon>
  );
}

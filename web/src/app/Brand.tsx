import { Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import classes from './Brand.module.css';

/** @param isShortOnPhones There it is the sign without the name: a header has no room for both. */
export function Brand({ isShortOnPhones = false }: { isShortOnPhones?: boolean }): ReactNode {
  return (
    <Link to="/" className={classes.link} aria-label="Underround">
      <Group gap={8} wrap="nowrap">
        <img src="/favicon.svg" alt="" width={26} height={26} />
        <Text fw={700} size="lg" {...(isShortOnPhones ? { visibleFrom: 'sm' } : {})}>
          Underround
        </Text>
      </Group>
    </Link>
  );
}

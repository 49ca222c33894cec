import { Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import classes from './Brand.module.css';

export function Brand(): ReactNode {
  return (
    <Link to="/" className={classes.link}>
      <Group gap={8} wrap="nowrap">
        <img src="/favicon.svg" alt="" width={26} height={26} />
        <Text fw={700} size="lg">
          Underround
        </Text>
      </Group>
    </Link>
  );
}

import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { type Maybe, withSign } from './format.ts';

/** A number with its sign and colour, such as a profit or a loss. Zero and a missing value have neither. */
export function Signed({ value, format }: { value: Maybe; format: (value: Maybe) => string }): ReactNode {
  const tone = value === null || value === undefined || value === 0 ? undefined : value > 0 ? 'up' : 'down';
  return (
    <Text span inherit className={tone}>
      {withSign(value, format)}
    </Text>
  );
}

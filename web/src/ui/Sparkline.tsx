import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { cents } from './format.ts';

const [WIDTH, HEIGHT] = [240, 36];

/** A small line chart of prices between 0 and 1, with breaks for missing values; its caption has the lowest and the highest. */
export function Sparkline({
  values,
  label,
}: {
  values: readonly (number | null)[];
  label: string;
}): ReactNode {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const range = Math.max(high - low, 0.01);
  const step = WIDTH / Math.max(values.length - 1, 1);
  let path = '';
  let isDown = false;
  values.forEach((value, index) => {
    if (value !== null) {
      const y = HEIGHT - 3 - ((value - low) / range) * (HEIGHT - 6);
      path += `${isDown ? 'L' : 'M'}${(index * step).toFixed(1)} ${y.toFixed(1)}`;
    }
    isDown = value !== null;
  });
  const caption = `${label}: ${cents(low)} to ${cents(high)}`;
  return (
    <div>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        width="100%"
        height={HEIGHT}
        preserveAspectRatio="none"
        role="img"
        aria-label={caption}
      >
        <path
          d={path}
          fill="none"
          stroke="var(--mantine-primary-color-filled)"
          strokeWidth="1.5"
          vectorEffect="non-scaling-stroke"
        />
      </svg>
      <Text size="xs" c="dimmed" aria-hidden>
        {caption}
      </Text>
    </div>
  );
}

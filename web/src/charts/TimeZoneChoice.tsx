import { SegmentedControl } from '@mantine/core';
import type { ReactNode } from 'react';
import { type TimeZone, zoneName } from './timeZone.ts';
import { useTimeZone } from './useTimeZone.ts';

/**
 * The reader's choice between UTC and the browser's own clock.
 * @param timeMs A displayed time: in another season the browser's clock has another offset than now.
 */
export function TimeZoneChoice({ timeMs }: { timeMs: number }): ReactNode {
  const [zone, setZone] = useTimeZone();
  const local = zoneName('local', timeMs);
  return (
    <SegmentedControl
      aria-label="Time zone"
      size="xs"
      data={[
        { value: 'UTC', label: 'UTC' },
        { value: 'local', label: local === 'UTC' ? 'Local' : `Local (${local})` },
      ]}
      value={zone}
      onChange={(value) => setZone(value as TimeZone)}
    />
  );
}

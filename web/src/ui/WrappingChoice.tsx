import { SegmentedControl } from '@mantine/core';
import type { ReactNode } from 'react';

/** A choice of one value, as wide as its items; they wrap where the page is narrower. */
export function WrappingChoice<Value extends string>({
  label,
  items,
  value,
  choose,
}: {
  label: string;
  items: readonly { readonly value: Value; readonly label: string }[];
  value: Value;
  choose: (value: Value) => void;
}): ReactNode {
  return (
    <SegmentedControl
      aria-label={label}
      data={[...items]}
      value={value}
      onChange={choose}
      withItemsBorders={false}
      style={{ alignSelf: 'flex-start', maxWidth: '100%', flexWrap: 'wrap' }}
    />
  );
}

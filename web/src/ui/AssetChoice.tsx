import { NativeSelect, SegmentedControl } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Ticker } from '../api/assets.ts';

/** More choices than this do not fit beside each other on a phone. */
const SEGMENTS_MAX = 4;

/** Chooses one of the followed assets. */
export function AssetChoice({
  assets,
  chosen,
  choose,
}: {
  assets: readonly Ticker[];
  chosen: Ticker;
  choose: (asset: Ticker) => void;
}): ReactNode {
  const shared = { 'aria-label': 'Underlying', data: [...assets], value: chosen };
  return assets.length <= SEGMENTS_MAX ? (
    <SegmentedControl {...shared} onChange={(value) => choose(value as Ticker)} />
  ) : (
    <NativeSelect {...shared} onChange={(event) => choose(event.currentTarget.value as Ticker)} />
  );
}

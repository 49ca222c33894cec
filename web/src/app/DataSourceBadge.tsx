import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';
import { WARNING_COLOUR } from '../theme.ts';

/** `src/http/pages/serve.ts` writes it into the page, so that the badge is visible from the first paint. */
const SOURCE = document.querySelector<HTMLMetaElement>('meta[name="underround-data-source"]')?.content;

/** The shown data come from simulated venues. */
export const IS_SIMULATED = SOURCE === 'simulated';

/** A badge for simulated or replayed data; nothing for live data. */
export function DataSourceBadge(): ReactNode {
  if (!IS_SIMULATED && SOURCE !== 'replay') return null;
  return (
    <Badge color={WARNING_COLOUR} variant="filled">
      {SOURCE}
    </Badge>
  );
}

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Empty } from '../ui/states.tsx';

export function NotFound(): ReactNode {
  return (
    <main id="main">
      <Empty title="There is no page at this address">
        Go to <Link to="/">the start</Link>.
      </Empty>
    </main>
  );
}

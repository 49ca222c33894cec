import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Page } from '../ui/Page.tsx';

export function NotFound(): ReactNode {
  return (
    <main id="main">
      <Page title="Page not found">
        <p>
          Go to <Link to="/">the start</Link>.
        </p>
      </Page>
    </main>
  );
}

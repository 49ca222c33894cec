import { Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** The frame of every page, with a link that skips the navigation for keyboard users. */
export function Frame(): ReactNode {
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Outlet />
    </>
  );
}

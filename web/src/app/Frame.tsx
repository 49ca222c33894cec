import { Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** Around every page: the way past the navigation for who uses a keyboard. */
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

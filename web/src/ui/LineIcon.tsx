import type { ReactNode } from 'react';

/** An icon drawn in lines of the text's colour, hidden from screen readers. */
export function LineIcon({
  size,
  children,
}: {
  /** Width and height in CSS pixels. */
  size: number;
  /** Shapes on a square of 24 units. */
  children: ReactNode;
}): ReactNode {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
    >
      {children}
    </svg>
  );
}

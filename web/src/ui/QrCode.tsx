import { type ReactNode, useMemo } from 'react';
import { encode } from 'uqr';

/** Modules of white that the standard asks for on each side. */
const QUIET_MODULES = 4;
const SIDE_PIXELS = 220;

/**
 * A text as a QR code, dark on white in both themes: many apps do not read inverted ones. It needs no inline style, which
 * the page's Content-Security-Policy refuses.
 */
export function QrCode({ text, label }: { text: string; label: string }): ReactNode {
  const { path, side } = useMemo(() => {
    const { data, size } = encode(text, { border: QUIET_MODULES });
    const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])));
    return { path: dark.join(''), side: size };
  }, [text]);
  return (
    <svg
      role="img"
      aria-label={label}
      width={SIDE_PIXELS}
      height={SIDE_PIXELS}
      viewBox={`0 0 ${side} ${side}`}
      shapeRendering="crispEdges"
    >
      <rect width={side} height={side} fill="#ffffff" />
      <path d={path} fill="#000000" />
    </svg>
  );
}

import { useCallback, useState } from 'react';

/**
 * The width of an element in pixels, measured before the first paint and after each change. While the element is
 * hidden, the last width stays: what is drawn in it is not thrown away.
 */
export function useWidth(): {
  ref: (node: HTMLDivElement | null) => (() => void) | undefined;
  width: number;
} {
  const [width, setWidth] = useState(0);
  const ref = useCallback((node: HTMLDivElement | null) => {
    if (node === null) return undefined;
    const measure = () => {
      if (node.clientWidth > 0) setWidth(node.clientWidth);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}

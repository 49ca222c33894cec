import { useEffect, useRef } from 'react';

/** Where the keys belong to the page: nothing is focused, or a time slider or a chart is. */
const OWN_TARGETS = 'body, [role="slider"]';

/** Space plays and pauses, arrows step, wherever no control uses these keys itself. */
export function usePlaybackKeys(handlers: { onToggle: () => void; onStep: (way: 1 | -1) => void }): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { defaultPrevented, altKey, ctrlKey, metaKey, target, key } = event;
      if (defaultPrevented || altKey || ctrlKey || metaKey) return;
      if (!(target instanceof Element) || !target.matches(OWN_TARGETS)) return;
      if (key === ' ') latest.current.onToggle();
      else if (key === 'ArrowLeft') latest.current.onStep(-1);
      else if (key === 'ArrowRight') latest.current.onStep(1);
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

import { useEffect } from 'react';

const ROWS = '#main [data-row], #main tbody tr';
const TARGETS = 'a[href], button:not([disabled])';

/** The element of each row that the keyboard reaches: its first link or button. */
function rowTargets(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(ROWS)].flatMap((row) => {
    const target = row.querySelector<HTMLElement>(TARGETS);
    return target === null ? [] : [target];
  });
}

/** Whether a pressed key belongs to a field, a dialogue or a shortcut of the browser. */
function isForField(event: KeyboardEvent): boolean {
  const { target } = event;
  const isField =
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
  const isDialogue = document.querySelector('[role="dialog"]') !== null;
  return isField || isDialogue || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented;
}

/** `j` and `k` move to the next and the previous row of the page's tables; Enter then opens it. */
export function useRowKeys(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if ((event.key !== 'j' && event.key !== 'k') || isForField(event)) return;
      const targets = rowTargets();
      const row = document.activeElement?.closest(ROWS) ?? null;
      const at = targets.findIndex((target) => row?.contains(target));
      const next = event.key === 'j' ? at + 1 : Math.max(0, at - 1);
      targets[Math.min(next, targets.length - 1)]?.focus();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

import { useState } from 'react';

/**
 * Whether the form for a new row is shown: when it was asked for, and from the start where the list is empty. It then
 * stays open, because the first row in the list must not close the form that still handles its answer.
 * @param isEmpty Undefined until the list is known.
 */
export function useOpenForm(
  isEmpty: boolean | undefined,
): [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(false);
  if (isEmpty === true && !isOpen) setOpen(true);
  return [isOpen, setOpen];
}

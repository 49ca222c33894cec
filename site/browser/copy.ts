const SHOWN_MS = 1500;

/** Gives each block of code a button that copies it. */
export function addCopyButtons(place: ParentNode): void {
  for (const pre of place.querySelectorAll('pre')) {
    if (pre.parentElement?.classList.contains('block')) continue;
    // The button is beside the block, so that it stays in its corner while the code scrolls.
    const block = document.createElement('div');
    block.className = 'block';
    pre.replaceWith(block);
    block.append(pre, copyButton(pre));
  }
}

function copyButton(pre: HTMLElement): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    button.textContent = (await copied(pre)) ? 'Copied' : 'Press Ctrl+C';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, SHOWN_MS);
  });
  return button;
}

/** Without permission to write to the clipboard, as on plain HTTP, the code is selected instead. */
async function copied(pre: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(pre.textContent ?? '');
    return true;
  } catch {
    getSelection()?.selectAllChildren(pre);
    return false;
  }
}

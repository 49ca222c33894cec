import { type SearchEntry, type SearchResult, search } from '../searchRank.ts';

const INDEX = '/docs/search.json';

/** Connects the search field of the header with its list of results. */
export function startSearch(): void {
  const field = document.querySelector<HTMLInputElement>('#search');
  const list = document.querySelector<HTMLUListElement>('#results');
  if (!field || !list) return;
  let entries: Promise<SearchEntry[]> | null = null;
  const onInput = async () => {
    entries ??= fetch(INDEX).then((answer) => (answer.ok ? answer.json() : []));
    const query = field.value;
    const found = search(await entries, query);
    // A later key may have been pressed meanwhile.
    if (query === field.value) show(list, { found, isOpen: query.trim() !== '' });
  };
  field.addEventListener('input', onInput);
  field.addEventListener('focus', onInput);
  field.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') focusResult(list, 0, event);
    if (event.key === 'Enter') list.querySelector('a')?.click();
  });
  list.addEventListener('keydown', (event) => onListKey(event, { field, list }));
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') list.hidden = true;
    const isTyping = /^(?:INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '');
    if (event.key === '/' && !isTyping) {
      event.preventDefault();
      field.focus();
    }
  });
  document.addEventListener('click', ({ target }) => {
    if (!(target instanceof Node) || !field.parentElement?.contains(target)) list.hidden = true;
  });
  // A result on the same page does not load another one.
  list.addEventListener('click', () => {
    list.hidden = true;
  });
}

function show(list: HTMLUListElement, { found, isOpen }: { found: SearchResult[]; isOpen: boolean }): void {
  list.hidden = !isOpen;
  if (found.length === 0) {
    const none = document.createElement('li');
    none.className = 'none';
    none.textContent = 'Nothing found';
    list.replaceChildren(none);
    return;
  }
  list.replaceChildren(
    ...found.map(({ entry, excerpt }) => {
      const [item, link, about] = ['li', 'a', 'small'].map((tag) => document.createElement(tag));
      const address = link as HTMLAnchorElement;
      address.href = entry.url;
      address.textContent = entry.title === entry.page ? entry.title : `${entry.page}: ${entry.title}`;
      (about as HTMLElement).textContent = excerpt;
      address.append(about as HTMLElement);
      (item as HTMLElement).append(address);
      return item as HTMLElement;
    }),
  );
}

function onListKey(
  event: KeyboardEvent,
  { field, list }: { field: HTMLInputElement; list: HTMLUListElement },
): void {
  const links = [...list.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  if (event.key === 'ArrowDown') focusResult(list, at + 1, event);
  if (event.key === 'ArrowUp' && at > 0) focusResult(list, at - 1, event);
  if (event.key === 'ArrowUp' && at === 0) field.focus();
}

function focusResult(list: HTMLUListElement, index: number, event: KeyboardEvent): void {
  event.preventDefault();
  list.querySelectorAll('a')[index]?.focus();
}

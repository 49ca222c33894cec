/** The script of every documentation page: search, copy buttons, the menu of phones, and calls from the reference. */
import { addCopyButtons } from './copy.ts';
import { startSearch } from './search.ts';
import { addTryForms } from './tryForm.ts';

/** As in the style sheet: below it the menu is above the text. */
const NARROW = '(max-width: 56rem)';

const menu = document.querySelector<HTMLDetailsElement>('.menu');
if (menu && matchMedia(NARROW).matches) menu.open = false;
addCopyButtons(document);
startSearch();
addTryForms();

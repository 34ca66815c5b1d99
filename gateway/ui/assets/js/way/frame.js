// What the steps of a request's way have in common: a card each, and a table of what this page does not know of yet.
import { h } from '../dom.js';
import { anything, card } from '../parts.js';
import { known, words } from '../format.js';

export const step = (n, title, ...inside) =>
  h(
    'li',
    { class: 'step', key: `${n} ${title}` },
    h('span', { class: 'n', 'aria-hidden': 'true' }, n),
    h('section', { class: 'card' }, h('h2', null, title), inside),
  );

// rest returns the members of an object that are not known here.
export function rest(object, ...names) {
  const left = Object.fromEntries(Object.entries(object ?? {}).filter(([n, v]) => !names.includes(n) && known(v)));
  return Object.keys(left).length ? left : null;
}

// more is a table of them; null if there are none.
export const more = (object, ...names) =>
  rest(object, ...names) && h('div', { class: 'more' }, anything(rest(object, ...names)));

// others are cards for members that this page does not know.
export const others = (object, ...names) =>
  Object.entries(rest(object, ...names) ?? {}).map(([name, value]) => card(words(name), anything(value)));

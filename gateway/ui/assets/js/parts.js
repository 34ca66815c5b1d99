// Pieces that several views are made of.
import { h } from './dom.js';
import { stack } from './charts.js';
import { brief, count, known, none, share, words } from './format.js';

// at is the address of a view, as text that may stand in a link.
export function at(...steps) {
  return '#/' + steps.map(encodeURIComponent).join('/');
}

export const linkTo = (text, ...steps) => h('a', { href: at(...steps), class: 'name', title: text }, text);
export const specialistLink = (name) => (name ? linkTo(name, 'specialist', name) : none);
export const replicaLink = (name) => (name ? linkTo(name, 'replica', name) : none);

// badge says a state in words; its colour says the same.
export const badge = (kind, text, title) => h('span', { class: `badge ${kind}`, title }, text);

export const card = (title, ...inside) => h('section', { class: 'card' }, title && h('h2', null, title), inside);
export const figure = (label, value, note) =>
  h('div', { class: 'figure' }, h('dt', null, label), h('dd', null, value, note && h('small', null, ` ${note}`)));
export const figures = (...all) => h('dl', { class: 'figures' }, all);
export const lead = (text) => h('p', { class: 'dim' }, text);

// table takes columns {head, cell(row), class, key} and rows.
export function table(caption, columns, rows, keyOf, empty = 'There are none.') {
  if (rows.length === 0) return lead(empty);
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    h(
      'table',
      null,
      h('caption', null, caption),
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          columns.map((c) => h('th', { scope: 'col', class: c.class }, c.head)),
        ),
      ),
      h(
        'tbody',
        null,
        rows.map((row) =>
          h(
            'tr',
            { key: keyOf?.(row) },
            columns.map((c, i) =>
              i === 0
                ? h('th', { scope: 'row', class: c.class }, c.cell(row))
                : h('td', { class: c.class }, c.cell(row)),
            ),
          ),
        ),
      ),
    ),
  );
}

// pool draws blocks: used, reserved, cached (of those that are free), free.
export function pool(r, className) {
  const cached = Math.min(r.cached, r.free);
  const parts = [
    { name: 'used', value: r.used, class: 'p-used' },
    { name: 'reserved', value: r.reserved, class: 'p-reserved' },
    { name: 'cached', value: cached, class: 'p-cached' },
  ];
  if (!r.total) return h('span', { class: 'dim' }, 'pool not known');
  const text =
    `${count(r.used)} blocks used, ${count(r.reserved)} reserved, ${count(cached)} cached, ` +
    `${count(r.free - cached)} free of ${count(r.total)}`;
  return h(
    'span',
    { class: 'pool' },
    stack(parts, r.total, text, className),
    h('small', { title: text }, `${brief(r.used + r.reserved)} held, ${brief(cached)} cached of ${brief(r.total)}`),
  );
}

export const poolLegend = () =>
  h(
    'p',
    { class: 'legend' },
    [
      ['p-used', 'used'],
      ['p-reserved', 'reserved'],
      ['p-cached', 'cached, may go'],
      ['p-free', 'free'],
    ].map(([c, text]) =>
      h(
        'span',
        null,
        h(
          'svg',
          { class: 'swatch', viewBox: '0 0 10 10', 'aria-hidden': 'true' },
          h('rect', { class: c, width: 10, height: 10 }),
        ),
        text,
      ),
    ),
  );

// replicaState is why a replica gets requests, or none.
export function replicaState(r) {
  if (r.draining) return badge('warn', 'draining');
  if (r.why) return badge(r.why === 'asleep' || r.why === 'loading' ? 'calm' : 'bad', words(r.why));
  if (!r.healthy) return badge('bad', 'not healthy');
  if (r.withdrawn) return badge('warn', 'withdrawn');
  if (r.breaker !== 'closed') return badge('bad', `breaker ${r.breaker}`);
  return badge('good', 'serves');
}

export const serves = (r) => r.healthy && !r.draining && !r.withdrawn && !r.why && r.breaker === 'closed';

// standIn returns the first of the fallbacks that is not demoted itself, as the gateway looks for it, or null.
export function standIn(name, specialists, standings) {
  const byName = new Map(specialists.map((s) => [s.name, s]));
  let now = byName.get(name);
  for (let i = 0; now && i < specialists.length; i++) {
    now = byName.get(now.fallback);
    if (now && standings?.[now.name]?.correctness?.standing !== 'shadow-only') return now.name;
  }
  return null;
}

// rateBar shows a pass rate with its interval against the floor that is owed.
export function rateBar(c) {
  if (!known(c?.rate)) return h('span', { class: 'dim' }, `${c?.samples ?? 0} of ${c?.min_samples ?? 0} verdicts`);
  const below = c.rate < c.floor;
  return h(
    'span',
    { class: 'pool' },
    h(
      'svg',
      {
        class: 'bar',
        viewBox: '0 0 100 10',
        preserveAspectRatio: 'none',
        role: 'img',
        'aria-label': `pass rate ${share(c.rate, 1)}, floor ${share(c.floor, 1)}`,
      },
      h('rect', { class: 'p-free', width: 100, height: 10 }),
      h('rect', { class: below ? 'p-bad' : 'p-good', width: (100 * c.rate).toFixed(2), height: 10 }),
      h('line', { class: 'floor', x1: 100 * c.floor, x2: 100 * c.floor, y1: 0, y2: 10 }),
    ),
    h('small', null, `${share(c.rate, 1)} ${below ? 'is below' : 'keeps'} ${share(c.floor, 1)}`),
  );
}

// hits says what became of the hits that were predicted.
export function hits(a) {
  const n = (a?.all ?? 0) + (a?.part ?? 0) + (a?.none ?? 0);
  return n === 0
    ? none
    : h(
        'span',
        { title: `${a.all} whole, ${a.part} in part, ${a.none} not` },
        share(a.share),
        h('small', { class: 'dim' }, ` of ${brief(n)}`),
      );
}

// anything shows a value of a shape that is not known here: members as a table, lists of members as rows.
export function anything(value, depth = 0) {
  if (!known(value)) return none;
  if (typeof value !== 'object') return typeof value === 'number' ? number(value) : String(value);
  if (depth > 4) return JSON.stringify(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return 'none';
    if (value.some((v) => typeof v !== 'object' || v === null)) return value.map(String).join(', ');
    const heads = [...new Set(value.flatMap(Object.keys))];
    return h(
      'div',
      { class: 'scroll' },
      h(
        'table',
        { class: 'plain' },
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            heads.map((n) => h('th', { scope: 'col' }, words(n))),
          ),
        ),
        h(
          'tbody',
          null,
          value.map((row) =>
            h(
              'tr',
              null,
              heads.map((n) => h('td', null, anything(row[n], depth + 1))),
            ),
          ),
        ),
      ),
    );
  }
  const rows = Object.entries(value);
  if (rows.length === 0) return none;
  return h(
    'table',
    { class: 'plain' },
    h(
      'tbody',
      null,
      rows.map(([name, v]) =>
        h('tr', null, h('th', { scope: 'row' }, words(name)), h('td', null, anything(v, depth + 1))),
      ),
    ),
  );
}

const number = (v) => (Number.isInteger(v) ? String(v) : String(Math.round(v * 1e4) / 1e4));

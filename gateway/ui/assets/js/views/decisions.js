// Decisions as they are made: a sample, chosen by filters, the newest first.
import { h } from '../dom.js';
import { follow } from '../stream.js';
import { query } from '../session.js';
import { badge, card, linkTo, replicaLink, specialistLink, table } from '../parts.js';
import { count, known, ms, none, share, time } from '../format.js';

const most = 200; // rows
const pace = 250; // milliseconds between two drawings, however many come

const filter = { specialist: '', tenant: '', outcome: '' }; // kept while the page is open
const outcomes = [
  '',
  'ok',
  'error',
  'client_left',
  'queue_full',
  'kv_exhausted',
  'deadline_unachievable',
  'priority_floor',
  'quota_exceeded',
  'no_healthy_replica',
  'breaker_open',
  'upstream_reset',
  'upstream_timeout',
  'deadline_exceeded',
];
const stream = { rows: [], held: [], paused: false, tally: null, before: null, said: '', ends: null };

function begin(again, signal) {
  stream.ends?.abort();
  stream.ends = new AbortController();
  signal.addEventListener('abort', () => stream.ends.abort(), { once: true });
  Object.assign(stream, { rows: [], held: [], tally: null, before: null, said: 'connecting' });
  let due = null;
  const draw = () => {
    due ??= setTimeout(() => {
      due = null;
      again();
    }, pace);
  };
  follow(
    query('/admin/decisions', filter),
    (name, data) => {
      if (name === 'open') stream.said = '';
      else if (name === 'lost') stream.said = `${data.error.message} – again in ${Math.ceil(data.wait / 1000)} s`;
      else if (name === 'tally') {
        stream.before = stream.tally;
        stream.tally = data;
      } else if (name === 'message') {
        const rows = stream.paused ? stream.held : stream.rows;
        rows.unshift(data);
        if (rows.length > most) rows.length = most;
      }
      draw();
    },
    stream.ends.signal,
  );
}

function outcome(d) {
  if (d.outcome === 'ok') return badge('good', 'ok');
  return badge(d.status >= 500 || d.outcome.startsWith('upstream') ? 'bad' : 'warn', d.outcome);
}

const prompt = (d) =>
  known(d.delivered_cached_tokens)
    ? `${count(d.prompt_tokens)}, ${count(d.delivered_cached_tokens)} cached`
    : count(d.prompt_tokens);

const rows = () =>
  table(
    'The newest decisions',
    [
      { head: 'time', cell: (d) => linkTo(time(d.time), 'receipt', d.receipt) },
      { head: 'outcome', cell: outcome },
      { head: 'specialist', cell: (d) => [specialistLink(d.specialist), d.demoted && ` for ${d.demoted}`] },
      { head: 'by', cell: (d) => (known(d.confidence) ? `${d.routed_by} ${share(d.confidence)}` : d.routed_by) },
      { head: 'tenant', cell: (d) => h('span', { class: 'name', title: d.tenant }, d.tenant) },
      { head: 'intent', cell: (d) => h('span', { class: 'name', title: d.intent }, d.intent ?? none) },
      {
        head: 'replica',
        cell: (d) => [
          replicaLink(d.replica),
          d.attempts > 1 && h('small', { class: 'dim' }, ` after ${d.attempts - 1}`),
        ],
      },
      { head: 'prompt', class: 'num', cell: prompt },
      { head: 'answer', class: 'num', cell: (d) => count(d.completion_tokens) },
      { head: 'queue', class: 'num', cell: (d) => ms(d.queue_ms) },
      { head: 'first token', class: 'num', cell: (d) => (d.ttft_ms ? ms(d.ttft_ms) : none) },
      { head: 'total', class: 'num', cell: (d) => ms(d.total_ms) },
      { head: 'shadow', cell: (d) => d.shadow ?? none },
    ],
    stream.rows,
    (d) => d.receipt,
    'No decision has come yet that the filter lets pass.',
  );

function said() {
  const t = stream.tally;
  if (stream.said) return [badge('warn', 'not connected'), ` ${stream.said}`];
  if (!t) return [badge('calm', 'connecting')];
  const perSecond = stream.before ? t.seen - stream.before.seen : 0;
  return [
    badge('good', stream.paused ? 'held' : 'live'),
    ` ${count(perSecond)} in the last second, ${count(t.seen)} since it began, `,
    `${count(t.shown)} of them shown; at most ${t.per_second} a second.`,
    stream.paused && ` ${stream.held.length} wait.`,
  ];
}

let signalNow = null,
  againNow = null;
const restart = () => begin(againNow, signalNow);
const choose = (name) => (event) => {
  filter[name] = event.target.value.trim();
  restart();
  againNow();
};

function hold() {
  stream.paused = !stream.paused;
  if (!stream.paused) {
    stream.rows = [...stream.held, ...stream.rows].slice(0, most);
    stream.held = [];
  }
  againNow();
}

function find(event, go) {
  event.preventDefault();
  const id = event.target.elements.id.value.trim();
  if (id) go('receipt', id);
}

export default {
  title: () => 'Decisions',
  open({ again, signal }) {
    signalNow = signal;
    againNow = again;
    begin(again, signal);
  },
  render({ data, go }) {
    const names = data.state?.specialists.map((s) => s.name) ?? [];
    const option = (value, text, chosen) => h('option', { value, selected: chosen === value }, text);
    return [
      h('h1', null, 'Decisions'),
      card(
        null,
        h(
          'div',
          { class: 'controls' },
          h(
            'label',
            null,
            'Specialist',
            h(
              'select',
              { id: 'f-specialist', onchange: choose('specialist') },
              option('', 'all', filter.specialist),
              names.map((n) => option(n, n, filter.specialist)),
            ),
          ),
          h(
            'label',
            null,
            'Outcome',
            h(
              'select',
              { id: 'f-outcome', onchange: choose('outcome') },
              outcomes.map((o) => option(o, o === '' ? 'all' : o === 'error' ? 'all but ok' : o, filter.outcome)),
            ),
          ),
          h(
            'label',
            null,
            'Tenant',
            h('input', {
              id: 'f-tenant',
              onchange: choose('tenant'),
              value: filter.tenant,
              placeholder: 'its whole name',
            }),
          ),
          h(
            'button',
            { type: 'button', onclick: hold, 'aria-pressed': String(stream.paused) },
            stream.paused ? 'Go on' : 'Hold',
          ),
          h(
            'form',
            { class: 'find', onsubmit: (e) => find(e, go) },
            h('label', null, 'Receipt', h('input', { name: 'id', autocomplete: 'off', placeholder: 'X-Receipt-Id' })),
            h('button', { type: 'submit' }, 'Open'),
          ),
        ),
        h('p', { class: 'said' }, said()),
        rows(),
      ),
    ];
  },
};

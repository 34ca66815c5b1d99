// What octet doctor says of this gateway: what was found when replicas were connected, and all checks when asked.
import { h } from '../dom.js';
import { badge, card, lead, replicaLink, table } from '../parts.js';
import { none, time } from '../format.js';
import { get } from '../session.js';

const kinds = { pass: 'good', warn: 'warn', fail: 'bad' };
const order = ['fail', 'warn', 'pass'];
const shared = ['redis', 'nats', 'peer']; // no replicas: what they share

const columns = [
  { head: 'check', cell: (c) => c.check },
  { head: 'status', cell: (c) => badge(kinds[c.status] ?? 'calm', c.status) },
  { head: 'replica', cell: (c) => (shared.includes(c.replica) ? c.replica : replicaLink(c.replica)) },
  { head: 'seen', class: 'text', cell: (c) => c.detail || none },
  { head: 'cure', class: 'text', cell: (c) => (c.cure ? h('code', null, c.cure) : none) },
];

const sorted = (checks) => [...checks].sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status));
const keyOf = (c) => `${c.replica} ${c.check}`;

function summary(checks) {
  const failed = checks.filter((c) => c.status === 'fail').length,
    warned = checks.filter((c) => c.status === 'warn').length;
  return h(
    'p',
    null,
    failed ? badge('bad', `${failed} fail`) : badge('good', 'none fails'),
    ' ',
    warned > 0 && badge('warn', `${warned} to look at`),
    ` of ${checks.length} checks`,
  );
}

function atConnect(found) {
  if (!found) return lead('Waiting for the gateway.');
  if (found.refused) return h('p', null, found.refused.message);
  return [
    lead(
      `${found.asked} of ${found.replicas} replicas were asked when they began to serve, without a request to an engine.`,
    ),
    table('Found at connect', columns, sorted(found.findings), keyOf, 'Nothing was found.'),
  ];
}

// examine has all checks made: engines get two requests for one token each, so it is not done again and again.
async function examine({ data, again }) {
  if (data.examining) return;
  data.examining = new AbortController();
  data.said = null;
  again();
  try {
    data.checks = await get('/admin/doctor', data.examining.signal, { patient: true });
    data.at = Date.now();
  } catch (error) {
    data.said = error.message;
  }
  data.examining = null;
  again();
}

function whole(given) {
  const { data } = given;
  return [
    h(
      'p',
      null,
      h('button', { id: 'examine', onclick: () => examine(given), disabled: Boolean(data.examining) }, 'Examine now'),
      ' ',
      h(
        'span',
        { role: 'status', class: data.said ? 'bad-text' : 'dim' },
        data.examining
          ? 'Engines are asked; it takes some seconds.'
          : (data.said ?? (data.at ? `As of ${time(data.at)}.` : 'Each engine gets two requests for one token.')),
      ),
    ),
    data.checks && [summary(data.checks), table('Checks', columns, sorted(data.checks), keyOf)],
  ];
}

export default {
  title: () => 'Doctor',
  sources: () => ({ found: '/admin/findings' }),
  open({ data, signal }) {
    signal.addEventListener('abort', () => data.examining?.abort(), { once: true });
  },
  render(given) {
    return [
      h('h1', null, 'Doctor'),
      card('At connect', atConnect(given.data.found)),
      card('All checks', whole(given)),
    ];
  },
};

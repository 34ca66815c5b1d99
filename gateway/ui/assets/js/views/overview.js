// The whole ensemble on one page: what is wrong first, then load, then each specialist.
import { h } from '../dom.js';
import { chart } from '../charts.js';
import { columns, lately } from '../history.js';
import {
  badge,
  card,
  figure,
  figures,
  hits,
  lead,
  linkTo,
  pool,
  poolLegend,
  rateBar,
  replicaState,
  serves,
  specialistLink,
  standIn,
  table,
} from '../parts.js';
import { brief, count, known, ms, none, rate, share } from '../format.js';

const steps = ['normal', 'diverting', 'throttling'];

// concerns returns what an operator should know, the worst first, each {kind, text}.
function concerns({ state, breakers, found }) {
  const all = [];
  for (const f of found?.findings ?? []) {
    all.push({
      kind: f.status === 'fail' ? 'bad' : 'warn',
      text: [linkTo(f.replica, 'replica', f.replica), `, ${f.check}: ${f.detail} `, linkTo('cure', 'doctor')],
    });
  }
  if (state.draining) all.push({ kind: 'warn', text: 'This gateway is draining.' });
  for (const s of state.specialists) {
    const standing = breakers?.specialists?.[s.name];
    const out = s.replicas.filter((r) => !serves(r));
    if (s.replicas.length > 0 && out.length === s.replicas.length) {
      all.push({ kind: 'bad', text: ['No replica of ', specialistLink(s.name), ' serves.'] });
    } else if (out.length > 0) {
      all.push({
        kind: 'warn',
        text: [
          out.length === 1 ? 'One replica of ' : `${out.length} replicas of `,
          specialistLink(s.name),
          ': ',
          out.slice(0, 4).map((r) => [linkTo(r.name, 'replica', r.name), ' ', replicaState(r), ' ']),
          out.length > 4 && '…',
        ],
      });
    }
    if (standing?.correctness?.standing === 'shadow-only') {
      const other = standIn(s.name, state.specialists, breakers.specialists);
      all.push({
        kind: 'bad',
        text: [
          specialistLink(s.name),
          ' is demoted: ',
          other ? [specialistLink(other), ' stands in for it.'] : 'no specialist stands in for it.',
        ],
      });
    }
    const step = standing?.load?.step ?? 0;
    if (step > 0) {
      all.push({
        kind: step > 1 ? 'bad' : 'warn',
        text: [specialistLink(s.name), ` is ${steps[step] ?? `at step ${step}`} under load.`],
      });
    }
    if (s.preempting > 0)
      all.push({ kind: 'warn', text: [specialistLink(s.name), ` preempts ${count(s.preempting)}.`] });
    for (const p of s.probation ?? []) {
      all.push({
        kind: 'calm',
        text: [
          specialistLink(s.name),
          ` ${p.adapter ? `with ${p.adapter} ` : ''}is on probation: `,
          `${p.passed} of ${p.judged} answers passed, ${p.need} are needed.`,
        ],
      });
    }
  }
  const worst = ['bad', 'warn', 'calm'];
  return all.sort((a, b) => worst.indexOf(a.kind) - worst.indexOf(b.kind));
}

const kinds = { bad: 'act', warn: 'look', calm: 'note' };

function attention(data) {
  const all = concerns(data);
  const replicas = data.state.specialists.flatMap((s) => s.replicas);
  if (all.length === 0) {
    return h(
      'section',
      { class: 'card quiet-card', 'aria-label': 'Attention' },
      h(
        'p',
        null,
        badge('good', 'all quiet'),
        ` ${count(data.state.specialists.length)} specialists with ${count(replicas.length)} replicas serve.`,
      ),
    );
  }
  return h(
    'section',
    { class: 'card', 'aria-label': 'Attention' },
    h('h2', null, 'Attention'),
    h(
      'ul',
      { class: 'concerns' },
      all.slice(0, 12).map((c) => h('li', null, badge(c.kind, kinds[c.kind]), ' ', c.text)),
      all.length > 12 && h('li', { class: 'dim' }, `and ${all.length - 12} more, below`),
    ),
  );
}

function sums(state) {
  const total = { running: 0, waiting: 0, serving: 0, replicas: 0, all: 0, kept: 0 };
  for (const s of state.specialists) {
    total.running += s.running;
    total.waiting += s.waiting;
    total.replicas += s.replicas.length;
    total.serving += s.replicas.filter(serves).length;
    total.kept += s.hits.all;
    total.all += s.hits.all + s.hits.part + s.hits.none;
  }
  return total;
}

function load({ state }) {
  const t = sums(state),
    prompt = lately('prompt', 60),
    cached = lately('cached', 60);
  return [
    figures(
      figure('open requests', count(state.open)),
      figure('running', count(t.running)),
      figure('waiting', count(t.waiting)),
      figure('requests', rate(lately('requests')), '/s'),
      figure('tokens out', rate(lately('completion')), '/s'),
      figure('prompt from cache', share(prompt ? cached / prompt : null), 'last minute'),
      figure('hits kept', share(t.all ? t.kept / t.all : null), t.all ? `of ${brief(t.all)} predicted` : ''),
      figure('replicas serving', `${count(t.serving)} of ${count(t.replicas)}`),
    ),
    h(
      'div',
      { class: 'two' },
      chart('requests', {
        title: 'Requests at the engines',
        columns: columns('running', 'waiting'),
        lines: [
          { label: 'running', colour: 'used', fill: true },
          { label: 'waiting', colour: 'warn', dash: [6, 4] },
        ],
      }),
      chart('tokens', {
        title: 'Tokens a second',
        columns: columns('completion', 'prompt', 'cached'),
        lines: [
          { label: 'out', colour: 'used', value: rate },
          { label: 'prompt', colour: 'reserved', dash: [6, 4], value: rate },
          { label: 'of it cached', colour: 'cached', dash: [2, 3], value: rate },
        ],
      }),
    ),
  ];
}

function standingOf(s, breakers) {
  const standing = breakers?.specialists?.[s.name],
    out = s.replicas.filter((r) => !serves(r)).length;
  if (standing?.correctness?.standing === 'shadow-only') return badge('bad', 'demoted');
  if (s.replicas.length && out === s.replicas.length) return badge('bad', 'down');
  if (standing?.load?.step > 0) return badge('warn', steps[standing.load.step] ?? 'load');
  if (out > 0) return badge('warn', `${out} out`);
  return badge('good', 'serves');
}

function specialists({ state, breakers, slo }) {
  const report = (s) => slo?.specialists?.[s.name];
  return table(
    'Specialists',
    [
      { head: 'specialist', cell: (s) => specialistLink(s.name) },
      { head: 'state', cell: (s) => standingOf(s, breakers) },
      { head: 'replicas', class: 'num', cell: (s) => `${s.replicas.filter(serves).length} of ${s.replicas.length}` },
      { head: 'running', class: 'num', cell: (s) => count(s.running) },
      { head: 'waiting', class: 'num', cell: (s) => count(s.waiting) },
      { head: 'pool', class: 'wide', cell: (s) => pool(s) },
      { head: 'hits kept', class: 'num', cell: (s) => hits(s.hits) },
      {
        head: 'cached',
        class: 'num',
        cell: (s) => (s.totals.prompt_tokens ? share(s.totals.cached_tokens / s.totals.prompt_tokens) : none),
      },
      {
        head: 'first token p50 / p95',
        class: 'num',
        cell: (s) =>
          known(report(s)?.ttft?.p50_ms) ? `${ms(report(s).ttft.p50_ms)} / ${ms(report(s).ttft.p95_ms)}` : none,
      },
      { head: 'next token p95', class: 'num', cell: (s) => ms(report(s)?.itl?.p95_ms) },
      { head: 'deadlines missed', class: 'num', cell: (s) => share(report(s)?.deadline_missed?.fraction, 1) },
      { head: 'correct / floor', class: 'wide', cell: (s) => rateBar(report(s)?.correctness) },
    ],
    state.specialists,
    (s) => s.name,
  );
}

function replicas({ state }) {
  return h(
    'div',
    { class: 'fleet' },
    state.specialists.map((s) =>
      h(
        'div',
        { key: s.name, class: 'lane' },
        h('h3', null, specialistLink(s.name)),
        h(
          'ul',
          null,
          s.replicas.map((r) =>
            h(
              'li',
              { key: r.name },
              h(
                'a',
                { href: `#/replica/${encodeURIComponent(r.name)}`, class: 'cell', title: r.name },
                h('span', { class: 'cut' }, r.name),
                pool(r),
                h(
                  'span',
                  { class: 'cell-foot' },
                  replicaState(r),
                  h('small', null, `${count(r.running)} running, ${count(r.waiting)} waiting`),
                ),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

export default {
  title: () => 'Overview',
  sources: () => ({ breakers: '/admin/breakers', slo: '/admin/slo', found: '/admin/findings' }),
  render({ data }) {
    if (!data.state) return [h('h1', { class: 'unseen' }, 'Overview'), lead('Waiting for the gateway.')];
    return [
      h('h1', { class: 'unseen' }, 'Overview'),
      attention(data),
      card(null, load(data)),
      card('Specialists', specialists(data)),
      card('Pools', poolLegend(), replicas(data)),
    ];
  },
};

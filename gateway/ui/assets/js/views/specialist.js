// One specialist: what it promises and keeps, what has set its knobs, and its replicas.
import { h } from '../dom.js';
import {
  card,
  figure,
  figures,
  hits,
  lead,
  pool,
  poolLegend,
  rateBar,
  replicaLink,
  replicaState,
  specialistLink,
  standIn,
  table,
  badge,
} from '../parts.js';
import { count, date, known, ms, none, share } from '../format.js';

const percentiles = (caption, rows) =>
  table(
    caption,
    [
      { head: 'of', cell: (r) => r[0] },
      ...['p50', 'p95', 'p99'].map((p) => ({ head: p, class: 'num', cell: (r) => ms(r[1]?.[`${p}_ms`]) })),
      { head: 'samples', class: 'num', cell: (r) => count(r[1]?.samples) },
    ],
    rows,
    (r) => r[0],
  );

function promises(report) {
  if (!report) return lead('Nothing is known yet.');
  const c = report.correctness;
  return [
    percentiles(
      `Times over ${report.window_seconds / 60} minutes; a dash has fewer than ${report.min_samples} samples`,
      [
        ['first token', report.ttft],
        ['between tokens', report.itl],
        ['first token after admission', report.admission_ttft],
        ...Object.entries(report.intents ?? {}).map(([intent, l]) => [`first token, ${intent}`, l]),
      ],
    ),
    h('h3', null, 'Correctness'),
    h('p', null, rateBar(c)),
    figures(
      figure('verdicts', count(c.samples), `of ${c.min_samples} needed`),
      figure('true rate', known(c.low) ? `${share(c.low, 1)} to ${share(c.high, 1)}` : none),
      figure('standing', c.standing),
      figure('deadlines missed', share(report.deadline_missed.fraction, 2)),
      figure('preempted once', share(report.preempted_once.fraction, 2)),
    ),
    c.kinds &&
      table(
        'Verdicts by kind',
        [
          { head: 'kind', cell: (k) => k[0] },
          { head: 'rate', class: 'num', cell: (k) => share(k[1].rate, 1) },
          { head: 'samples', class: 'num', cell: (k) => count(k[1].samples) },
        ],
        Object.entries(c.kinds),
        (k) => k[0],
      ),
  ];
}

function inForce(name, knobs) {
  const own = (knobs?.knobs ?? []).filter((k) => k.name.endsWith(`.${name}`) || k.override);
  return table(
    'Knobs of this specialist, and all that operators have set',
    [
      { head: 'knob', cell: (k) => k.name },
      { head: 'in force', class: 'num', cell: (k) => String(k.value) },
      { head: 'default', class: 'num', cell: (k) => String(k.default) },
      {
        head: 'set by',
        cell: (k) =>
          k.override
            ? [badge('warn', 'operator'), ` ${k.override.by} ${k.override.why}`]
            : k.set
              ? `the gateway: ${k.set.why}`
              : none,
      },
      { head: 'until', cell: (k) => (k.override?.until ? date(k.override.until) : none) },
    ],
    own,
    (k) => k.name,
  );
}

function replicas(s) {
  return [
    poolLegend(),
    table(
      'Replicas',
      [
        { head: 'replica', cell: (r) => replicaLink(r.name) },
        { head: 'state', cell: replicaState },
        { head: 'engine', cell: (r) => (r.engine_says ? `${r.engine}, says ${r.engine_says}` : r.engine) },
        { head: 'pool', class: 'wide', cell: (r) => pool(r) },
        { head: 'running', class: 'num', cell: (r) => count(r.running) },
        { head: 'waiting', class: 'num', cell: (r) => count(r.waiting) },
        { head: 'in flight', class: 'num', cell: (r) => count(r.in_flight) },
        { head: 'shadows', class: 'num', cell: (r) => count(r.shadow) },
        { head: 'hits kept', class: 'num', cell: (r) => hits(r.hits) },
        { head: 'found by', cell: (r) => r.source },
      ],
      s.replicas,
      (r) => r.name,
    ),
  ];
}

export default {
  title: ([name]) => name,
  sources: () => ({ breakers: '/admin/breakers', slo: '/admin/slo', knobs: '/admin/knobs' }),
  render({ steps: [name], data }) {
    const head = h('h1', null, name);
    if (!data.state) return [head, lead('Waiting for the gateway.')];
    const s = data.state.specialists.find((one) => one.name === name);
    if (!s)
      return [head, card(null, h('p', null, 'There is no such specialist in this generation of the configuration.'))];
    const standing = data.breakers?.specialists?.[name];
    const demoted = standing?.correctness?.standing === 'shadow-only';
    const other = standIn(name, data.state.specialists, data.breakers?.specialists);
    return [
      head,
      card(
        null,
        demoted &&
          h(
            'p',
            null,
            badge('bad', 'demoted'),
            other ? [' ', specialistLink(other), ' stands in.'] : ' No specialist stands in.',
          ),
        h('p', null, pool(s)),
        figures(
          figure('running', count(s.running)),
          figure('waiting', count(s.waiting)),
          figure('preempting', count(s.preempting)),
          figure('hits kept', hits(s.hits)),
          figure('answers', count(s.totals.answers)),
          figure('load step', known(standing?.load?.step) ? String(standing.load.step) : none),
          figure('pressure', known(standing?.load?.pressure) ? standing.load.pressure.toFixed(2) : none),
          figure('stands in while it is demoted', s.fallback ? specialistLink(s.fallback) : 'none'),
        ),
      ),
      card('What it promises, and keeps', promises(data.slo?.specialists?.[name])),
      card('Replicas', replicas(s)),
      card('In force', inForce(name, data.knobs)),
    ];
  },
};

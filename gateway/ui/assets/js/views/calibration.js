// How far confidences can be trusted, how second opinions differ, and what a threshold would cost.
import { h } from '../dom.js';
import { chart, stack } from '../charts.js';
import { badge, card, figure, figures, lead, table } from '../parts.js';
import { count, known, none, share, words } from '../format.js';

let chosen = null; // the intent, while the page is open
const forms = [
  ['text', 'text'],
  ['tool_calls', 'tool calls'],
  ['json', 'JSON'],
];

// diagram holds mean confidence against what held: on the line, confidences are right.
function diagram(r) {
  if (r.bins.length === 0) return lead('No confidence has been held against an outcome yet.');
  const most = Math.max(...r.bins.map((b) => b.samples));
  const grid = [0, 0.25, 0.5, 0.75, 1];
  return h(
    'div',
    { class: 'two' },
    h(
      'svg',
      {
        class: 'diagram',
        viewBox: '-48 -10 270 250',
        role: 'img',
        'aria-label':
          `Reliability over ${r.samples} samples, expected calibration error ${share(r.ece, 1)}; ` +
          'the table has the figures',
      },
      grid.map((v) => [
        h('line', { class: 'grid', x1: 0, x2: 200, y1: 200 - 200 * v, y2: 200 - 200 * v }),
        h('text', { x: -6, y: 204 - 200 * v, 'text-anchor': 'end' }, share(v)),
        h('text', { x: 200 * v, y: 218, 'text-anchor': 'middle' }, share(v)),
      ]),
      h('text', { x: 100, y: 236, 'text-anchor': 'middle' }, 'confidence'),
      h('line', { class: 'even', x1: 0, y1: 200, x2: 200, y2: 0 }),
      h('polyline', {
        class: 'held',
        points: r.bins.map((b) => `${200 * b.confidence},${200 - 200 * b.held}`).join(' '),
      }),
      r.bins.map((b) =>
        h(
          'circle',
          { class: 'dot', cx: 200 * b.confidence, cy: 200 - 200 * b.held, r: 3 + 6 * Math.sqrt(b.samples / most) },
          h('title', { svg: true }, `${b.samples} with ${share(b.confidence, 1)}: ${share(b.held, 1)} held`),
        ),
      ),
    ),
    h(
      'div',
      null,
      figures(
        figure('samples', count(r.samples)),
        figure('held against', r.basis),
        figure('expected calibration error', share(r.ece, 1)),
      ),
      table(
        'By confidence',
        [
          { head: 'from', cell: (b) => share(b.low) },
          { head: 'samples', class: 'num', cell: (b) => count(b.samples) },
          { head: 'confidence', class: 'num', cell: (b) => share(b.confidence, 1) },
          { head: 'held', class: 'num', cell: (b) => share(b.held, 1) },
        ],
        r.bins,
        (b) => String(b.low),
      ),
    ),
  );
}

function classes(all) {
  const sorted = Object.entries(all ?? {}).sort((a, b) => b[1] - a[1]),
    whole = sorted.reduce((n, [, v]) => n + v, 0);
  if (whole === 0) return lead('No second opinion has come yet.');
  return h(
    'ul',
    { class: 'bars' },
    sorted.map(([name, n]) =>
      h(
        'li',
        { key: name },
        h('span', { class: 'cut' }, words(name)),
        stack(
          [{ name, value: n, class: name === 'agree' ? 'p-good' : 'p-warn' }],
          whole,
          `${name}: ${n} of ${whole}`,
        ),
        h('span', { class: 'num' }, `${count(n)}, ${share(n / whole)}`),
      ),
    ),
  );
}

function thresholds(form, inForce) {
  const rows = form.thresholds,
    rec = form.recommended;
  const list = (name) => rows.map((t) => (known(t[name]) ? 100 * t[name] : null));
  const percent = (v) => `${Math.round(v)} %`;
  const marks = [{ at: inForce, label: 'in force', colour: 'muted' }];
  if (known(rec?.threshold)) marks.push({ at: rec.threshold, label: 'recommended', colour: 'good' });
  return [
    h(
      'p',
      null,
      known(rec?.threshold)
        ? [
            badge('good', 'recommended'),
            ` ${rec.threshold.toFixed(3)}, between ${rec.low.toFixed(3)} and ${rec.high.toFixed(3)}: `,
          ]
        : [badge('calm', 'nothing to recommend'), ' '],
      rec?.why,
    ),
    chart('thresholds', {
      title: 'Of all requests shadowed, of disagreements caught, of shadows wasted, in %',
      numbers: true,
      height: 220,
      marks,
      range: () => [0, 100],
      columns: [rows.map((t) => t.threshold), list('shadowed'), list('caught'), list('wasted')],
      lines: [
        { label: 'shadowed', colour: 'reserved', dash: [6, 4], value: percent },
        { label: 'caught', colour: 'used', value: percent },
        { label: 'wasted', colour: 'warn', dash: [2, 3], value: percent },
      ],
    }),
    h(
      'details',
      null,
      h('summary', null, 'The same as a table'),
      table(
        'What a threshold would cost',
        [
          { head: 'threshold', cell: (t) => [t.threshold.toFixed(2), t.threshold === inForce && ' in force'] },
          ...['shadowed', 'caught', 'wasted'].map((n) => ({ head: n, class: 'num', cell: (t) => share(t[n], 1) })),
          { head: 'seen', cell: (t) => (t.observed ? 'yes' : 'beyond what was in force') },
        ],
        rows,
        (t) => String(t.threshold),
      ),
    ),
  ];
}

const lane = (l) => [l.specialist, l.adapter, l.version].filter(Boolean).join(' ');

function one(intent) {
  return [
    card('Reliability', diagram(intent.reliability)),
    forms
      .map(([name, text]) => [text, name === 'text' ? intent : intent[name]])
      .filter(([, f]) => f)
      .map(([text, f]) => [
        card(`Second opinions on ${text}`, figures(figure('comparisons', count(f.comparisons))), classes(f.classes)),
        f.comparisons > 0 && card(`What a threshold would cost, ${text}`, thresholds(f, intent.threshold)),
      ]),
    intent.correctness?.length > 0 &&
      card(
        'Verdicts',
        table(
          'Pass rates',
          [
            { head: 'specialist', cell: (c) => lane(c.lane) },
            { head: 'rate', class: 'num', cell: (c) => share(c.samples ? c.passed / c.samples : null, 1) },
            { head: 'true rate', class: 'num', cell: (c) => `${share(c.low, 1)} to ${share(c.high, 1)}` },
            { head: 'samples', class: 'num', cell: (c) => count(c.samples) },
          ],
          intent.correctness,
        ),
      ),
  ];
}

export default {
  title: () => 'Calibration',
  sources: () => ({ report: '/admin/calibration' }),
  render({ data, again }) {
    const head = h('h1', null, 'Calibration');
    if (!data.report) return [head, lead('Waiting for the gateway.')];
    if (data.report.refused) return [head, card(null, h('p', null, data.report.refused.message))];
    const intents = data.report.intents;
    const note =
      `Of the newest ${count(data.report.records)} records that this gateway has made since its start; ` +
      'octet calibrate reads whole streams.';
    if (intents.length === 0) {
      return [
        head,
        card(
          null,
          h(
            'p',
            null,
            badge('calm', 'no records'),
            ' Second opinions come where a confidence is below its shadow_threshold.',
          ),
          lead(note),
        ),
      ];
    }
    const intent =
      intents.find((i) => i.intent === chosen) ??
      [...intents].sort((a, b) => b.comparisons - a.comparisons || b.requests - a.requests)[0];
    const choose = (e) => {
      chosen = e.target.value;
      again();
    };
    return [
      head,
      card(
        null,
        lead(note),
        h(
          'div',
          { class: 'controls' },
          h(
            'label',
            null,
            'Intent',
            h(
              'select',
              { onchange: choose },
              intents.map((i) => h('option', { value: i.intent, selected: i === intent }, i.intent)),
            ),
          ),
        ),
        figures(
          figure('requests by the classifier', count(intent.requests)),
          figure('threshold in force', known(intent.threshold) ? intent.threshold.toFixed(2) : none),
        ),
      ),
      one(intent),
    ];
  },
};

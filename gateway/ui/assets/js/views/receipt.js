// One receipt: what was asked, decided, considered, reckoned and delivered.
import { h } from '../dom.js';
import { get } from '../session.js';
import { badge, card, lead, table } from '../parts.js';
import { date } from '../format.js';
import { asked, decided, prompt } from '../way/choice.js';
import { attempts, result } from '../way/course.js';
import { others, step } from '../way/frame.js';
import { considered } from '../way/pick.js';

function way(r) {
  let n = 0;
  const next = (title, ...inside) => step(++n, title, inside);
  return h(
    'ol',
    { class: 'way' },
    next('What was asked', asked(r.asked)),
    next('What was decided', decided(r.decision), prompt(r.prompt)),
    r.routing.map((p) => next('What was considered', considered(p))),
    next('What was tried', attempts(r.attempts)),
    next('What was delivered', result(r.result)),
    r.outcomes?.length > 0 &&
      next(
        'What was said of it later',
        table(
          'Verdicts',
          [
            { head: 'kind', cell: (o) => o.kind },
            { head: 'verdict', cell: (o) => (o.pass ? badge('good', 'pass') : badge('bad', 'fail')) },
            { head: 'of', cell: (o) => o.specialist ?? 'the answer' },
            { head: 'time', cell: (o) => date(o.time) },
          ],
          r.outcomes,
        ),
      ),
  );
}

const knownHere = [
  'id',
  'request_id',
  'time',
  'kind',
  'asked',
  'decision',
  'prompt',
  'routing',
  'attempts',
  'result',
  'outcomes',
];

export default {
  title: () => 'Receipt',
  async open({ steps: [id], data, again, signal }) {
    try {
      data.receipt = await get(`/admin/receipts/${encodeURIComponent(id ?? '')}`, signal);
    } catch (error) {
      data.error = error;
    }
    if (!signal.aborted) again();
  },
  render({ steps: [id], data }) {
    const head = h('h1', null, 'Receipt');
    if (data.error) {
      return [
        head,
        card(
          null,
          h('p', null, badge('warn', data.error.code || 'no answer'), ` ${data.error.message}`),
          lead('Receipts are kept in memory, the newest of each tenant: limits.receipts says how many.'),
        ),
      ];
    }
    if (!data.receipt) return [head, lead('Waiting for the gateway.')];
    const r = data.receipt;
    return [
      head,
      h(
        'p',
        { class: 'dim' },
        h('code', null, r.id ?? id),
        ` · ${r.kind} · ${date(r.time)}`,
        r.request_id !== r.id && [' · request ', h('code', null, r.request_id)],
      ),
      way(r),
      others(r, ...knownHere),
    ];
  },
};

// Which replica takes it: the candidates, and what each plugin said of them.
import { h } from '../dom.js';
import { stack } from '../charts.js';
import { badge, replicaLink, specialistLink, table } from '../parts.js';
import { count, ms, none, share } from '../format.js';
import { more } from './frame.js';

function candidates(trace, picked) {
  const scorers = [...new Set(trace.candidates.flatMap((c) => Object.keys(c.scores ?? {})))];
  const columns = [
    {
      head: 'replica',
      cell: (c) => [replicaLink(c.replica ?? String(c.host)), c.replica === picked && [' ', badge('good', 'picked')]],
    },
    {
      head: 'left',
      cell: (c) => (c.removed_by ? [badge('warn', `removed by ${c.removed_by}`), c.why && ` ${c.why}`] : 'yes'),
    },
    ...scorers.map((s) => ({
      head: s,
      class: 'num',
      cell: (c) => (c.scores?.[s] ? `${c.scores[s].weighted.toFixed(3)}` : none),
    })),
    { head: 'total', class: 'num', cell: (c) => (c.removed_by ? none : c.total.toFixed(3)) },
  ];
  const sorted = [...trace.candidates].sort(
    (a, b) => Boolean(a.removed_by) - Boolean(b.removed_by) || b.total - a.total,
  );
  return table(`Candidates of profile ${trace.profile}: what each plugin said`, columns, sorted, (c) =>
    String(c.host),
  );
}

function stages(trace) {
  if (!trace.stages?.length) return null;
  const whole = trace.stages.reduce((sum, s) => sum + s.ns, 0);
  return h(
    'details',
    null,
    h('summary', null, `Plugins took ${ms(whole / 1e6)}`),
    h(
      'ul',
      { class: 'bars' },
      trace.stages.map((s) =>
        h(
          'li',
          null,
          h('span', { class: 'cut' }, `${s.stage} ${s.plugin}`),
          stack([{ name: s.plugin, value: s.ns, class: 'p-reserved' }], whole, ms(s.ns / 1e6)),
          h('span', { class: 'num' }, ms(s.ns / 1e6)),
        ),
      ),
    ),
  );
}

export function considered(r) {
  return [
    h(
      'p',
      null,
      specialistLink(r.specialist),
      r.step && `, step ${r.step}`,
      r.profile && `, profile ${r.profile}`,
      r.profile_rule && ` (${r.profile_rule})`,
    ),
    r.skipped && h('p', null, badge('calm', 'left out'), ` ${r.skipped}`),
    r.error && h('p', null, badge('bad', 'error'), ` ${r.error}`),
    r.trace && candidates(r.trace, r.hit?.replica),
    r.hit &&
      h(
        'p',
        null,
        `Of the prompt, ${r.hit.replica} holds ${count(r.hit.chosen)} tokens`,
        r.hit.best > r.hit.chosen
          ? `; ${r.hit.best_replica} holds ${count(r.hit.best)}, a regret of ${share(r.hit.regret, 1)}.`
          : ', as many as any.',
      ),
    r.trace && stages(r.trace),
    more(r, 'specialist', 'step', 'skipped', 'profile', 'profile_rule', 'trace', 'hit', 'error'),
  ];
}

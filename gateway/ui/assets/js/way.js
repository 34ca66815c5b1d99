// The way of a request, drawn step by step. A receipt and a dry decision have most of it in common; what this page does
// not know of yet is shown as a table.
import { h } from './dom.js';
import { stack } from './charts.js';
import { anything, badge, card, figure, figures, lead, replicaLink, specialistLink, table } from './parts.js';
import { count, known, ms, none, share, words } from './format.js';

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

const more = (object, ...names) =>
  rest(object, ...names) && h('div', { class: 'more' }, anything(rest(object, ...names)));

export function asked(a) {
  return [
    figures(
      figure('model', a.model || 'octet'),
      figure('intent', a.intent ?? none),
      figure('adapter', a.adapter ?? none),
      figure(
        'priority',
        String(a.priority_in_use),
        a.priority !== a.priority_in_use ? `asked for ${a.priority}` : '',
      ),
      figure('deadline', a.deadline_ms ? ms(a.deadline_ms) : none),
      figure('first token by', a.ttft_deadline_ms ? ms(a.ttft_deadline_ms) : none),
      figure('stream', a.stream ? 'yes' : 'no'),
      figure('policy', a.policy),
      figure('at most', a.max_tokens ? `${count(a.max_tokens)} tokens` : none),
      figure('session', a.session ? 'yes' : 'no'),
    ),
    more(
      a,
      'model',
      'intent',
      'adapter',
      'priority',
      'priority_in_use',
      'deadline_ms',
      'ttft_deadline_ms',
      'stream',
      'policy',
      'max_tokens',
      'session',
    ),
  ];
}

// probabilities are drawn as bars, the likeliest first.
export function probabilities(d) {
  const all = Object.entries(d.probabilities ?? {}).sort((a, b) => b[1] - a[1]);
  if (all.length === 0) return null;
  return h(
    'ul',
    { class: 'bars', 'aria-label': 'Probabilities of the classifier' },
    all.map(([name, p]) =>
      h(
        'li',
        { key: name },
        h('span', { class: 'cut', title: name }, name),
        stack(
          [{ name, value: p, class: name === d.specialist ? 'p-used' : 'p-cached' }],
          1,
          `${name}: ${share(p, 1)}`,
        ),
        h('span', { class: 'num' }, share(p, 1)),
      ),
    ),
  );
}

export function decided(d) {
  return [
    h(
      'p',
      { class: 'lead' },
      specialistLink(d.specialist),
      d.adapter && ` with ${d.adapter}`,
      ', by ',
      h('strong', null, d.routed_by),
      known(d.confidence) && `, ${share(d.confidence, 1)} sure`,
      '.',
    ),
    d.demoted && h('p', null, badge('warn', 'stands in'), ' for ', specialistLink(d.demoted), ', which is demoted.'),
    d.classifier_outage && h('p', null, badge('warn', 'no classifier'), ` ${d.classifier_outage}`),
    probabilities(d),
    figures(
      figure('rule', d.rule ?? none),
      figure('cues', d.cues?.length ? d.cues.join(', ') : none),
      figure('second choice', d.second ? `${d.second}${d.second_viable ? '' : ', not viable'}` : none),
      figure('shadow', d.shadow ? specialistLink(d.shadow) : 'none'),
      figure('version', d.version ?? none),
    ),
    more(
      d,
      'specialist',
      'adapter',
      'version',
      'routed_by',
      'rule',
      'cues',
      'confidence',
      'probabilities',
      'classifier',
      'classifier_outage',
      'second',
      'second_viable',
      'shadow',
      'demoted',
    ),
  ];
}

export const prompt = (p) =>
  figures(
    figure('prompt', `${count(p.tokens)} tokens`, p.exact ? 'counted' : 'estimated'),
    figure('blocks', count(p.blocks)),
  );

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

export function attempt(a, longest) {
  const parts = [
    { name: 'queue, ms', value: a.queue_ms, class: 'p-reserved' },
    { name: 'engine, ms', value: Math.max(a.ms - a.queue_ms, 0), class: a.outcome === 'ok' ? 'p-used' : 'p-bad' },
  ];
  return h(
    'li',
    null,
    h(
      'p',
      null,
      replicaLink(a.replica),
      a.step && `, step ${a.step}`,
      ' ',
      a.outcome === 'ok' ? badge('good', 'ok') : badge('bad', a.outcome),
      a.detail && ` ${a.detail}`,
    ),
    stack(parts, longest, `${ms(a.queue_ms)} in the queue, ${ms(a.ms)} in all`),
    h(
      'p',
      { class: 'dim' },
      `${ms(a.queue_ms)} in the queue, ${ms(a.ms)} in all. `,
      `Cached tokens: ${count(a.predicted_cached_tokens)} foretold, `,
      known(a.delivered_cached_tokens)
        ? `${count(a.delivered_cached_tokens)} delivered.`
        : 'the engine does not say.',
      a.fallback && ` Asked again: ${a.fallback}.`,
      a.speculation && ` Speculation: ${a.speculation}.`,
    ),
    more(
      a,
      'specialist',
      'step',
      'replica',
      'revision',
      'queue_ms',
      'predicted_cached_tokens',
      'delivered_cached_tokens',
      'outcome',
      'detail',
      'fallback',
      'speculation',
      'ms',
    ),
  );
}

export function attempts(all) {
  if (all.length === 0) return lead('No replica was asked.');
  const longest = Math.max(...all.map((a) => a.ms), 0.001);
  return h(
    'ol',
    { class: 'attempts' },
    all.map((a) => attempt(a, longest)),
  );
}

export function result(r) {
  return [
    h(
      'p',
      { class: 'lead' },
      r.done ? badge('good', 'complete') : badge('bad', r.code || 'not complete'),
      ` status ${r.status}`,
      r.finish && `, ${r.finish}`,
    ),
    figures(
      figure('answer', `${count(r.completion_tokens)} tokens`),
      figure('prompt', r.prompt_tokens ? `${count(r.prompt_tokens)} tokens` : none),
      figure('from cache', count(r.cached_tokens)),
      figure('decided in', ms(r.route_us / 1000)),
      figure('first token', r.ttft_ms ? ms(r.ttft_ms) : none),
      figure('total', ms(r.total_ms)),
      figure('continued', count(r.continued ?? 0)),
      figure('preempted', count(r.preempted)),
      r.held_ms && figure('held', ms(r.held_ms), r.woke ? 'a replica was woken' : ''),
    ),
    more(
      r,
      'status',
      'specialist',
      'code',
      'finish',
      'done',
      'prompt_tokens',
      'completion_tokens',
      'cached_tokens',
      'ttft_ms',
      'total_ms',
      'route_us',
      'continued',
      'preempted',
      'held_ms',
      'woke',
    ),
  ];
}

export function admission(a) {
  if (!a) return lead('It needs no place.');
  const kind = a.answer === 'admitted' ? 'good' : a.answer === 'wait' ? 'warn' : 'bad';
  return [
    h('p', { class: 'lead' }, badge(kind, a.answer), a.reason && ` ${a.reason}`),
    figures(
      figure('would wait', a.estimate_ms ? ms(a.estimate_ms) : none),
      figure('come back after', a.retry_after_ms ? ms(a.retry_after_ms) : none),
    ),
    more(a, 'answer', 'estimate_ms', 'reason', 'retry_after_ms'),
  ];
}

// others are cards for members that this page does not know.
export const others = (object, ...names) =>
  Object.entries(rest(object, ...names) ?? {}).map(([name, value]) => card(words(name), anything(value)));

// Which specialist answers: what a request asked for, and what was decided.
import { h } from '../dom.js';
import { stack } from '../charts.js';
import { badge, figure, figures, specialistLink } from '../parts.js';
import { count, known, ms, none, share } from '../format.js';
import { more } from './frame.js';

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

// What came of it: what admission reckons, the replicas that were tried, and the result.
import { h } from '../dom.js';
import { stack } from '../charts.js';
import { badge, figure, figures, lead, replicaLink } from '../parts.js';
import { count, known, ms, none } from '../format.js';
import { more } from './frame.js';

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

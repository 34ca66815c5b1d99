// What would happen to a prompt: POST /admin/route, which runs nothing.
import { h } from '../dom.js';
import { post } from '../session.js';
import { badge, card, lead, replicaLink } from '../parts.js';
import { count } from '../format.js';
import { asked, decided, prompt } from '../way/choice.js';
import { admission } from '../way/course.js';
import { others, step } from '../way/frame.js';
import { considered } from '../way/pick.js';

const kept = { answer: null, error: null, busy: false }; // while the page is open

async function ask(event, again) {
  event.preventDefault();
  const form = event.target.elements;
  const body = { model: form.model.value || 'octet', messages: [{ role: 'user', content: form.prompt.value }] };
  const most = Number.parseInt(form.most.value, 10);
  if (most > 0) body.max_tokens = most;
  Object.assign(kept, { busy: true, error: null });
  again();
  try {
    kept.answer = await post('/admin/route', body);
  } catch (error) {
    kept.error = error;
    kept.answer = null;
  }
  kept.busy = false;
  again();
}

function answer(a) {
  let n = 0;
  const next = (title, ...inside) => step(++n, title, inside);
  const steps = a.steps?.length ? a.steps : [{ routing: a.routing, replica: a.replica, admission: a.admission }];
  return [
    h(
      'ol',
      { class: 'way' },
      next('What is asked', asked(a.asked)),
      next('What would be decided', decided(a.decision), prompt(a.prompt)),
      steps.flatMap((s) => [
        next(`What would be considered${s.step ? `: ${s.step}` : ''}`, considered(s.routing)),
        next(
          'What admission reckons',
          s.replica
            ? h(
                'p',
                null,
                replicaLink(s.replica),
                ` is believed to hold ${count(s.predicted_cached_tokens)} tokens of it.`,
              )
            : lead('No candidate is left.'),
          admission(s.admission),
        ),
      ]),
    ),
    others(
      a,
      'request_id',
      'asked',
      'decision',
      'prompt',
      'routing',
      'replica',
      'predicted_cached_tokens',
      'admission',
      'steps',
    ),
  ];
}

export default {
  title: () => 'Playground',
  render({ data, again }) {
    const names = data.state?.specialists.map((s) => s.name) ?? [];
    return [
      h('h1', null, 'Playground'),
      card(
        null,
        lead('Nothing is run: this asks which specialist and replica would answer, and why.'),
        h(
          'form',
          { class: 'play', onsubmit: (e) => ask(e, again) },
          h(
            'label',
            null,
            'Prompt',
            h('textarea', {
              name: 'prompt',
              rows: 8,
              required: true,
              spellcheck: 'false',
              placeholder: "undefined reference to `vtable for Shape'",
            }),
          ),
          h(
            'div',
            { class: 'controls' },
            h(
              'label',
              null,
              'Model',
              h(
                'select',
                { name: 'model' },
                h('option', { value: 'octet' }, 'octet: the router chooses'),
                names.map((n) => h('option', { value: n }, n)),
              ),
            ),
            h(
              'label',
              null,
              'At most, tokens',
              h('input', { name: 'most', inputmode: 'numeric', value: '256', size: 6 }),
            ),
            h('button', { type: 'submit', disabled: kept.busy }, kept.busy ? 'Asking' : 'What would happen?'),
          ),
        ),
      ),
      h(
        'div',
        { 'aria-live': 'polite' },
        kept.error &&
          card(null, h('p', null, badge('bad', kept.error.code || 'no answer'), ` ${kept.error.message}`)),
        kept.answer && answer(kept.answer),
      ),
    ];
  },
};

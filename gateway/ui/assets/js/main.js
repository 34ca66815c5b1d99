// The frame of the page: which view is shown, what it is given and how often, and how the gateway is.
import { h, place } from './dom.js';
import { settle } from './charts.js';
import { get, Refusal, setToken, token } from './session.js';
import { pause } from './stream.js';
import { date, time } from './format.js';
import { remember } from './history.js';
import overview from './views/overview.js';
import specialist from './views/specialist.js';
import replica from './views/replica.js';
import decisions from './views/decisions.js';
import receipt from './views/receipt.js';
import calibration from './views/calibration.js';
import playground from './views/playground.js';
import doctor from './views/doctor.js';

const views = { '': overview, specialist, replica, decisions, receipt, calibration, playground, doctor };
const tabs = [
  ['', 'Overview'],
  ['decisions', 'Decisions'],
  ['calibration', 'Calibration'],
  ['playground', 'Playground'],
  ['doctor', 'Doctor'],
];
const main = document.getElementById('main');
const every = 2000,
  longest = 15000;

let shown = null; // {view, name, steps, data, ends}
let hasDoctor = false;
let started = null; // of the gateway, as it tells
let lost = 0; // attempts in a row that failed

function render() {
  if (!shown) return;
  const { view, steps, data } = shown;
  try {
    place(main, view.render({ steps, data, again: render, go }));
    settle(main);
  } catch (error) {
    status('bad', 'this view could not be drawn; the console says why');
    console.error(error);
  }
}

const go = (...steps) => {
  location.hash = '#/' + steps.map(encodeURIComponent).join('/');
};

// open shows the view that the address names.
function open() {
  const steps = location.hash
    .replace(/^#\/?/, '')
    .split('/')
    .map(decode)
    .filter((s) => s !== '');
  const name = Object.hasOwn(views, steps[0] ?? '') ? (steps[0] ?? '') : '';
  shown?.ends.abort();
  const ends = new AbortController();
  shown = { view: views[name], name, steps: steps.slice(1), data: {}, ends };
  document.title = `${shown.view.title(shown.steps)} · Octet`;
  main.replaceChildren();
  navigation();
  shown.view.open?.({ steps: shown.steps, data: shown.data, again: render, signal: ends.signal });
  render();
  keepAsking(ends.signal);
}

function decode(step) {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function navigation() {
  const now =
    shown?.name === 'specialist' || shown?.name === 'replica'
      ? ''
      : shown?.name === 'receipt'
        ? 'decisions'
        : shown?.name;
  place(
    document.getElementById('nav'),
    h(
      'ul',
      null,
      tabs
        .filter(([name]) => name !== 'doctor' || hasDoctor)
        .map(([name, text]) =>
          h('li', { key: name }, h('a', { href: `#/${name}`, 'aria-current': now === name ? 'page' : null }, text)),
        ),
    ),
  );
}

// keepAsking gives the view what its sources say, again and again while it is shown and seen.
async function keepAsking(signal) {
  while (!signal.aborted) {
    let wait = every;
    if (!document.hidden) {
      try {
        await once(signal);
        lost = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Refusal && error.status === 401) return askForToken(error, signal);
        lost++;
        wait = Math.min(every * 2 ** Math.min(lost - 1, 4), longest);
        tell(error, wait);
      }
    }
    await Promise.race([pause(wait, signal), seen(signal)]);
  }
}

async function once(signal) {
  const sources = Object.entries(shown.view.sources?.(shown.steps) ?? {});
  const view = shown;
  const [state, ...rest] = await Promise.all([
    get('/admin/state?adapters=none', signal),
    ...sources.map(([, path]) =>
      get(path, signal).catch((e) => {
        if (!(e instanceof Refusal) || e.status === 401) throw e;
        return { refused: e };
      }),
    ),
  ]);
  if (signal.aborted) return;
  const restarted = started !== null && started !== state.started;
  started = state.started;
  if (hasDoctor !== Boolean(state.doctor)) {
    hasDoctor = Boolean(state.doctor);
    navigation();
  }
  remember(state, restarted);
  view.data.state = state;
  sources.forEach(([name], i) => {
    view.data[name] = rest[i];
  });
  status(
    restarted ? 'warn' : 'good',
    state.draining ? `draining · ${time(Date.now())}` : `live · ${time(Date.now())}`,
  );
  if (restarted) status('warn', `the gateway restarted at ${time(started)}`);
  place(document.getElementById('about'), [`Generation ${state.generation}, up since ${date(state.started)}.`]);
  render();
}

function seen(signal) {
  return new Promise((resolve) => {
    if (!document.hidden) return;
    document.addEventListener('visibilitychange', resolve, { once: true, signal });
  });
}

function tell(error, wait) {
  const seconds = Math.round(wait / 1000);
  const refused = error instanceof Refusal;
  status('bad', refused ? `refused: ${error.message}` : `no answer from the gateway · again in ${seconds} s`);
  if (refused && error.status === 403)
    place(main, h('section', { class: 'card' }, h('h1', null, 'Refused'), h('p', null, error.message)));
}

function status(kind, text) {
  const link = document.getElementById('link');
  if (link.textContent !== text) link.textContent = text;
  link.className = `link ${kind}`;
}

// askForToken shows the form instead of a view, until the gateway takes the token.
function askForToken(error, signal) {
  status('bad', 'the token is needed');
  const given = token() !== '';
  setToken('');
  const field = h('input', {
    id: 'token',
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    required: true,
    'aria-describedby': 'token-said',
  });
  const take = (event) => {
    event.preventDefault();
    setToken(field.value.trim());
    open();
  };
  main.replaceChildren(
    h(
      'section',
      { class: 'card narrow' },
      h('h1', null, 'The admin token'),
      h(
        'p',
        { id: 'token-said', role: given ? 'alert' : null, class: given ? 'bad-text' : 'dim' },
        given
          ? 'This gateway has another token.'
          : 'This gateway wants its token. It stays in this tab, until the tab is closed.',
      ),
      h(
        'form',
        { onsubmit: take },
        h('label', { for: 'token' }, 'Token'),
        field,
        h('button', { type: 'submit' }, 'Show'),
      ),
    ),
  );
  field.focus();
  signal.addEventListener('abort', () => main.replaceChildren(), { once: true });
}

const themes = ['auto', 'light', 'dark'];
function theme(next) {
  const button = document.getElementById('theme');
  const now = next ?? localStorage.getItem('octet.theme') ?? 'auto';
  localStorage.setItem('octet.theme', now);
  if (now === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = now;
  button.textContent = `Theme: ${now}`;
  button.onclick = () => {
    theme(themes[(themes.indexOf(now) + 1) % themes.length]);
    render();
  };
}

addEventListener('hashchange', () => {
  open();
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', render);
theme();
open();

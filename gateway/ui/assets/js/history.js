// What the page has seen since it was opened: one point each time that the gateway was asked.

const most = 900; // points: half an hour
const points = [];
let before = null;

// remember adds a point. A gateway that restarted counts from zero again.
export function remember(state, restarted) {
  if (restarted) before = null;
  const now = {
    at: Date.now() / 1000,
    open: state.open,
    running: 0,
    waiting: 0,
    requests: 0,
    prompt: 0,
    cached: 0,
    completion: 0,
  };
  for (const s of state.specialists) {
    now.running += s.running;
    now.waiting += s.waiting;
    now.requests += s.totals.requests;
    now.prompt += s.totals.prompt_tokens;
    now.cached += s.totals.cached_tokens;
    now.completion += s.totals.completion_tokens;
  }
  const span = before ? now.at - before.at : 0;
  const rate = (name) => (span > 0 ? Math.max(now[name] - before[name], 0) / span : null);
  points.push({
    at: now.at,
    running: now.running,
    waiting: now.waiting,
    requests: rate('requests'),
    completion: rate('completion'),
    prompt: rate('prompt'),
    cached: rate('cached'),
  });
  if (points.length > most) points.shift();
  before = now;
}

// columns returns the points as lists, the times first.
export const columns = (...names) => [points.map((p) => p.at), ...names.map((n) => points.map((p) => p[n]))];

// lately returns the mean of a rate over the last so many seconds; null if nothing is known.
export function lately(name, seconds = 20) {
  const from = Date.now() / 1000 - seconds;
  const all = points.filter((p) => p.at >= from && p[name] !== null).map((p) => p[name]);
  return all.length ? all.reduce((a, b) => a + b, 0) / all.length : null;
}

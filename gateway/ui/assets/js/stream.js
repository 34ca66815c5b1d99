// Server-sent events by fetch, as EventSource sends no token. The stream is asked for again when it ends.
import { ask, Refusal } from './session.js';

const longest = 15000; // between two attempts, in milliseconds
const silence = 6000; // the gateway says something each second: a stream that is silent for so long is dead

// follow reads the events of path until signal ends. on is given events by their names ('message' without one), 'open',
// and 'lost' with the error and the milliseconds until the next attempt.
export async function follow(path, on, signal) {
  for (let wait = 500; !signal.aborted;) {
    let error = new Error('the gateway has ended the stream');
    try {
      await read(
        path,
        (name, data) => {
          wait = 500;
          on(name, data);
        },
        signal,
      );
    } catch (e) {
      error = e;
    }
    if (signal.aborted) return;
    on('lost', { error, wait });
    if (error instanceof Refusal && (error.status === 401 || error.status === 403)) return;
    await pause(wait, signal);
    wait = Math.min(wait * 2, longest);
  }
}

async function read(path, on, signal) {
  const dead = new AbortController();
  let watch = setTimeout(() => dead.abort(), silence);
  const answer = await ask(path, {
    signal: AbortSignal.any([signal, dead.signal]),
    accept: 'text/event-stream',
    endless: true,
  });
  on('open', null);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(watch);
      watch = setTimeout(() => dead.abort(), silence);
      text += value;
      const events = text.split('\n\n');
      text = events.pop();
      for (const event of events) tell(event, on);
    }
  } finally {
    clearTimeout(watch);
  }
}

function tell(event, on) {
  let name = 'message',
    data = '';
  for (const line of event.split('\n')) {
    if (line.startsWith('event: ')) name = line.slice(7);
    else if (line.startsWith('data: ')) data += line.slice(6);
  }
  if (data) on(name, JSON.parse(data));
}

export function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

// What is asked of the gateway: with the token, if there is one, and with errors in its own words.

const tokenKey = 'octet.token';

export class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const token = () => sessionStorage.getItem(tokenKey) ?? '';
export function setToken(value) {
  if (value) sessionStorage.setItem(tokenKey, value);
  else sessionStorage.removeItem(tokenKey);
}

function headers(more) {
  const all = { Accept: 'application/json', ...more };
  if (token()) all.Authorization = `Bearer ${token()}`;
  return all;
}

async function refusal(answer) {
  let said = null;
  try {
    said = (await answer.json()).error;
  } catch {
    // not the gateway's own words: something stands in between
  }
  return new Refusal(answer.status, said?.code ?? '', said?.message ?? `status ${answer.status}`);
}

// within bounds how long the gateway may take for an answer, in milliseconds; patience where it asks engines itself.
const within = 10000,
  patience = 150000;

// ask returns the answer, once its head is there, or throws: a Refusal, or what fetch says of a gateway that is away.
export async function ask(path, { signal, body, accept, endless, patient } = {}) {
  const ends = [];
  if (signal) ends.push(signal);
  if (!endless) ends.push(AbortSignal.timeout(patient ? patience : within));
  const more = accept ? { Accept: accept } : {};
  if (body !== undefined) more['Content-Type'] = 'application/json';
  const answer = await fetch(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: headers(more),
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
    signal: ends.length ? AbortSignal.any(ends) : undefined,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!answer.ok) throw await refusal(answer);
  return answer;
}

export const get = async (path, signal, more) => (await ask(path, { signal, ...more })).json();
export const post = async (path, body, signal) => (await ask(path, { signal, body })).json();

// query makes a path's parameters of those that are not empty.
export function query(path, parameters) {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value) all.set(name, value);
  const text = all.toString();
  return text ? `${path}?${text}` : path;
}

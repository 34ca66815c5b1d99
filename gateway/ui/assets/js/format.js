// Figures as people read them. What is not known is a dash.
export const none = '–';

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export const known = (v) => v !== null && v !== undefined && !Number.isNaN(v);
export const count = (n) => (known(n) ? grouped.format(n) : none);
export const brief = (n) => (!known(n) ? none : Math.abs(n) < 10000 ? grouped.format(n) : short.format(n));
export const share = (v, digits = 0) => (known(v) ? `${(100 * v).toFixed(digits)} %` : none);

export function ms(v) {
  if (!known(v)) return none;
  if (v === 0) return '0 ms';
  if (v < 1) return `${Math.round(v * 1000)} µs`;
  if (v < 10) return `${v.toFixed(1)} ms`;
  if (v < 1000) return `${Math.round(v)} ms`;
  if (v < 60000) return `${(v / 1000).toFixed(v < 10000 ? 2 : 1)} s`;
  return `${(v / 60000).toFixed(1)} min`;
}

export const rate = (v) => (known(v) ? (v < 10 ? v.toFixed(1) : brief(v)) : none);

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
export const time = (t) => clock.format(new Date(t));
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
export const date = (t) => day.format(new Date(t));

// words makes a heading of a member's name.
export const words = (name) => name.replaceAll('_', ' ');

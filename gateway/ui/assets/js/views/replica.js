// One replica: its pool, its health, what is known of its cache, and its adapters.
import { h } from '../dom.js';
import {
  anything,
  badge,
  card,
  figure,
  figures,
  hits,
  lead,
  pool,
  poolLegend,
  replicaState,
  specialistLink,
  table,
} from '../parts.js';
import { count, date, ms, none } from '../format.js';

const calm = new Set(['loaded', 'absent']);

const adapters = (list) =>
  table(
    'Adapters',
    [
      { head: 'adapter', cell: (a) => h('span', { class: 'name', title: a.adapter }, a.adapter) },
      { head: 'version', cell: (a) => a.version ?? none },
      { head: 'served as', cell: (a) => h('span', { class: 'name', title: a.served }, a.served) },
      { head: 'state', cell: (a) => badge(a.error ? 'bad' : calm.has(a.state) ? 'good' : 'warn', a.state) },
      { head: 'in force', cell: (a) => (a.in_force ? 'yes' : 'no') },
      { head: 'requests', class: 'num', cell: (a) => count(a.requests) },
      { head: 'waiting', class: 'num', cell: (a) => count(a.waiting) },
      { head: 'for', class: 'num', cell: (a) => ms(a.for_ms) },
      { head: 'error', cell: (a) => a.error ?? none },
    ],
    list,
    (a) => a.served,
    'It has none, or its engine is left to itself.',
  );

export default {
  title: ([name]) => name,
  sources: ([name]) => ({
    one: `/admin/state?replica=${encodeURIComponent(name)}`,
    index: `/admin/index?replica=${encodeURIComponent(name)}`,
  }),
  render({ steps: [name], data }) {
    const head = h('h1', null, name);
    if (!data.one) return [head, lead('Waiting for the gateway.')];
    const s = data.one.specialists?.find((one) => one.replicas.length > 0),
      r = s?.replicas[0];
    if (!r)
      return [head, card(null, h('p', null, 'There is no such replica in this generation of the configuration.'))];
    return [
      head,
      card(
        null,
        h('p', null, replicaState(r), ' of ', specialistLink(s.name)),
        h('p', null, pool(r, 'bar tall')),
        poolLegend(),
        figures(
          figure('running', count(r.running)),
          figure('waiting', count(r.waiting)),
          figure('in flight', count(r.in_flight)),
          figure('preempting', count(r.preempting)),
          figure('shadows', count(r.shadow)),
          figure('hits kept', hits(r.hits)),
          figure('blocks', count(r.total)),
          figure('engine', r.engine_says ? `${r.engine}, says ${r.engine_says}` : r.engine),
          figure('breaker', r.breaker),
          figure('weights', r.revision ?? none),
          figure('found by', r.source),
          r.lease_ends && figure('registered until', date(r.lease_ends)),
        ),
      ),
      card('Adapters', adapters(r.adapters ?? [])),
      card('What is known of its cache', anything(data.index?.replicas?.[name])),
    ];
  },
};

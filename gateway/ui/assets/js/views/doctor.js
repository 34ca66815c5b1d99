// What octet doctor would say of this gateway, where the gateway answers it.
import { h } from '../dom.js';
import { anything, badge, card, lead, replicaLink, table } from '../parts.js';
import { none } from '../format.js';

const kinds = { pass: 'good', warn: 'warn', fail: 'bad' };
const order = ['fail', 'warn', 'pass'];

// checksOf finds the list of checks, whether it is the answer or a member of it.
function checksOf(answer) {
  const list = Array.isArray(answer) ? answer : Object.values(answer ?? {}).find(Array.isArray);
  return list?.every((c) => c && typeof c === 'object' && 'status' in c) ? list : null;
}

export default {
  title: () => 'Doctor',
  sources: () => ({ doctor: '/admin/doctor' }),
  render({ data }) {
    const head = h('h1', null, 'Doctor');
    if (!data.doctor) return [head, lead('Waiting for the gateway.')];
    if (data.doctor.refused) return [head, card(null, h('p', null, data.doctor.refused.message))];
    const checks = checksOf(data.doctor);
    if (!checks) return [head, card(null, anything(data.doctor))];
    const sorted = [...checks].sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status));
    const failed = checks.filter((c) => c.status === 'fail').length,
      warned = checks.filter((c) => c.status === 'warn').length;
    return [
      head,
      card(
        null,
        h(
          'p',
          null,
          failed ? badge('bad', `${failed} fail`) : badge('good', 'none fails'),
          ' ',
          warned > 0 && badge('warn', `${warned} to look at`),
          ` of ${checks.length} checks`,
        ),
        table(
          'Checks',
          [
            { head: 'check', cell: (c) => c.check },
            { head: 'status', cell: (c) => badge(kinds[c.status] ?? 'calm', c.status) },
            { head: 'replica', cell: (c) => (c.replica ? replicaLink(c.replica) : none) },
            { head: 'seen', class: 'text', cell: (c) => c.detail ?? none },
            { head: 'cure', class: 'text', cell: (c) => (c.cure ? h('code', null, c.cure) : none) },
          ],
          sorted,
        ),
      ),
    ];
  },
};

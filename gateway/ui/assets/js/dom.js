// Nodes are made of tags, attributes and text, and put in place of earlier ones with as little change as can be, so
// that focus, selection and scrolling stay. What a gateway says becomes text nodes and attribute values only.

const svgTags = new Set(['svg', 'g', 'rect', 'line', 'circle', 'path', 'polyline', 'text', 'title']);
const handlers = ['onclick', 'oninput', 'onchange', 'onsubmit', 'onkeydown'];

// h makes an element. Attributes whose value is null, undefined or false are left out; handlers are functions.
export function h(tag, attributes, ...children) {
  const svg = (svgTags.has(tag) && tag !== 'title') || (tag === 'title' && attributes?.svg);
  const node = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false || name === 'svg') continue;
    if (handlers.includes(name)) node[name] = value;
    else if (name === 'key') node.setAttribute('data-key', value);
    else if (name.startsWith('on') || name === 'style') throw new Error(`${name} is no attribute of this page`);
    else node.setAttribute(name, value === true ? '' : value);
  }
  add(node, children);
  return node;
}

function add(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === '') continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.getAttribute('data-key') : null);

// place makes nodes the children of parent, keeping those that are there and alike.
export function place(parent, nodes) {
  const wanted = document.createDocumentFragment();
  add(wanted, [nodes]);
  children(parent, wanted);
}

function children(from, to) {
  const keyed = new Map();
  for (const node of from.childNodes) if (keyOf(node) !== null) keyed.set(keyOf(node), node);
  const used = new Set();
  let at = from.firstChild;
  for (const next of [...to.childNodes]) {
    const key = keyOf(next);
    let same = null;
    if (key !== null) same = keyed.get(key);
    else if (at && keyOf(at) === null) same = at;
    if (same && !used.has(same) && same.nodeType === next.nodeType && same.nodeName === next.nodeName) {
      if (same === at) at = at.nextSibling;
      else from.insertBefore(same, at);
      used.add(same);
      become(same, next);
    } else {
      from.insertBefore(next, at);
      used.add(next);
    }
  }
  for (const node of [...from.childNodes]) if (!used.has(node)) node.remove();
}

function become(from, to) {
  if (from.nodeType === Node.TEXT_NODE) {
    if (from.data !== to.data) from.data = to.data;
    return;
  }
  // of charts alone: form.model would be the form's control of that name
  if (to.nodeName === 'FIGURE' && to.model !== undefined) {
    // a chart: what draws it has its inside to itself
    from.model = to.model;
    return;
  }
  for (const { name } of [...from.attributes]) {
    if (!to.hasAttribute(name) && !(name === 'open' && from.nodeName === 'DETAILS')) from.removeAttribute(name);
  }
  for (const { name, value } of to.attributes) if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  for (const name of handlers) if (from[name] !== to[name]) from[name] = to[name];
  if (from.nodeName !== 'TEXTAREA') children(from, to); // what is typed is the operator's
}

// Charts: lines over time by uPlot, and stacked bars, which are small enough to be drawn here.
import { h } from './dom.js';
import { time } from './format.js';

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// chart is a place for a plot. lines are {label, colour (a variable's name), dash, value}; x is seconds of the epoch or
// numbers where span says so. columns are x and one list of values a line. What the plot shows is told in words beside.
export function chart(key, { title, lines, columns, height = 150, numbers = false, marks = [], range }) {
  const node = h('figure', { key, class: 'chart', 'aria-label': title });
  node.model = { title, lines, columns, height, numbers, marks, range };
  return node;
}

// settle draws the charts below root: those that are new, and those with other data.
export function settle(root) {
  for (const node of root.querySelectorAll('figure.chart')) {
    const shape = JSON.stringify([
      node.model.lines.map((l) => l.label),
      document.documentElement.dataset.theme ?? '',
      matchMedia('(prefers-color-scheme: dark)').matches,
      node.model.marks,
    ]);
    if (node.plot && node.shape === shape) {
      if (node.drawn !== node.model.columns) node.plot.setData(node.model.columns);
    } else {
      draw(node, shape);
    }
    node.drawn = node.model.columns;
    // the newest point, while none is pointed at
    if (!node.model.numbers && node.plot.cursor.idx == null)
      node.plot.setLegend({ idx: node.model.columns[0].length - 1 });
  }
}

const widths = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    if (target.plot && contentRect.width > 0)
      target.plot.setSize({ width: contentRect.width, height: target.model.height });
  }
});

const clock = (_, ticks) => ticks.map((t) => time(t * 1000));

function draw(node, shape) {
  const { title, lines, columns, height, numbers, marks, range } = node.model;
  node.plot?.destroy();
  node.replaceChildren(h('figcaption', null, title));
  const axis = {
    stroke: colour('muted'),
    grid: { stroke: colour('grid'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  const options = {
    width: node.clientWidth || 400,
    height,
    legend: { live: true },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { x: { time: !numbers }, y: { range: range ?? ((_, low, high) => [0, Math.max(high * 1.15, 1)]) } },
    axes: [
      { ...axis, space: 90, size: 30, ...(numbers ? {} : { values: clock }) },
      { ...axis, size: 46 },
    ],
    series: [
      numbers ? { label: 'at' } : { label: 'at', value: '{HH}:{mm}:{ss}' },
      ...lines.map((l) => ({
        label: l.label,
        stroke: colour(l.colour),
        width: 2,
        dash: l.dash,
        points: { show: false },
        fill: l.fill ? `${colour(l.colour)}22` : undefined,
        value: (_, v) =>
          v === null || v === undefined ? '–' : l.value ? l.value(v) : String(Math.round(v * 100) / 100),
      })),
    ],
    hooks: { draw: marks.length ? [(plot) => mark(plot, marks)] : [] },
  };
  node.plot = new globalThis.uPlot(options, columns, node);
  node.shape = shape;
  widths.observe(node);
}

// mark draws upright lines with their names.
function mark(plot, marks) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.lineWidth = devicePixelRatio;
  marks.forEach(({ at, label, colour: name }, i) => {
    const x = plot.valToPos(at, 'x', true);
    ctx.strokeStyle = ctx.fillStyle = colour(name);
    ctx.beginPath();
    ctx.setLineDash([4, 4]);
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const right = x + ctx.measureText(label).width + 8 > bbox.left + bbox.width;
    ctx.textAlign = right ? 'right' : 'left';
    ctx.fillText(label, x + (right ? -6 : 6), bbox.top + (14 + 16 * i) * devicePixelRatio);
  });
  ctx.restore();
}

// stack is a bar of parts, each {name, value, class}; text is what it says to those that do not see it.
export function stack(parts, total, text, className = 'bar') {
  let at = 0;
  const whole = Math.max(total, 1e-9);
  return h(
    'svg',
    { class: className, viewBox: '0 0 100 10', preserveAspectRatio: 'none', role: 'img', 'aria-label': text },
    h('rect', { class: 'p-free', x: 0, y: 0, width: 100, height: 10 }),
    parts
      .filter((p) => p.value > 0)
      .map((p) => {
        const width = (100 * p.value) / whole;
        const part = h(
          'rect',
          { class: p.class, x: at.toFixed(3), y: 0, width: width.toFixed(3), height: 10 },
          h('title', { svg: true }, `${p.name}: ${p.value}`),
        );
        at += width;
        return part;
      }),
  );
}

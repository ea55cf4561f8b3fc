// A picture of curves: panels beside one another, each with a logarithmic axis of what grows and one line for each server. Plain SVG with
// a background of its own, so that it reads the same on light and dark pages.

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Curve {
  readonly server: string;
  readonly points: readonly Point[];
}

export interface Panel {
  /** What is measured, with its unit. */
  readonly title: string;
  /** A logarithmic axis, for values that grow as much as what they depend on. */
  readonly isLog: boolean;
  readonly curves: readonly Curve[];
}

/** A colour for each server, the same in all pictures; chosen to be told apart also by people who see few colours (Okabe and Ito). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#e69f00', '#cc79a7', '#56b4e9', '#666666'];
const WIDTH = 460;
const HEIGHT = 300;
const PLOT = { left: 62, right: 34, top: 36, bottom: 46 };
const HEAD = 62;
const LEGEND_STEP = 150;
/** Panels beside one another. */
const COLUMNS = 2;

/** @param xLabel what grows */
export function drawCurves(title: string, xLabel: string, panels: readonly Panel[]): string {
  const servers = [...new Set(panels.flatMap(({ curves }) => curves.map(({ server }) => server)))];
  const colourOf = (server: string): string => COLOURS[servers.indexOf(server) % COLOURS.length] ?? '#000000';
  const width = Math.max(WIDTH * COLUMNS, LEGEND_STEP * servers.length + 2 * PLOT.right);
  const height = HEAD + HEIGHT * Math.ceil(panels.length / COLUMNS);
  const legend = servers.map((server, i) => {
    const x = PLOT.right + i * LEGEND_STEP;
    const line = `<line x1="${x}" y1="48" x2="${x + 22}" y2="48" stroke="${colourOf(server)}" stroke-width="3"/>`;
    return `${line}${text(x + 28, 52, server)}`;
  });
  const drawn = panels.map(
    (panel, i) =>
      `<g transform="translate(${(i % COLUMNS) * WIDTH} ${HEAD + HEIGHT * Math.floor(i / COLUMNS)})">${drawPanel(panel, xLabel, colourOf)}</g>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13" fill="#222222">
<title>${title}</title>
<rect width="100%" height="100%" fill="#ffffff"/>
${text(PLOT.right, 26, title, 'font-size="17" font-weight="bold"')}
${[...legend, ...drawn].join('\n')}
</svg>
`;
}

function drawPanel(
  { title, isLog, curves }: Panel,
  xLabel: string,
  colourOf: (server: string) => string,
): string {
  const points = curves.flatMap((curve) => curve.points);
  const xs = [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b);
  const ys = points.map(({ y }) => y);
  const x = scaled(Math.log10(xs[0] ?? 1), Math.log10(xs.at(-1) ?? 10), PLOT.left, WIDTH - PLOT.right);
  const ticks = isLog ? powers(Math.min(...ys), Math.max(...ys)) : steps(Math.max(...ys));
  const of = (value: number): number => (isLog ? Math.log10(value) : value);
  const y = scaled(of(ticks[0] ?? 0), of(ticks.at(-1) ?? 1), HEIGHT - PLOT.bottom, PLOT.top);
  const grid = ticks.map((tick) => {
    const at = y(of(tick)).toFixed(1);
    const line = `<line x1="${PLOT.left}" y1="${at}" x2="${WIDTH - PLOT.right}" y2="${at}" stroke="#dddddd"/>`;
    return `${line}${text(PLOT.left - 6, Number(at) + 4, short(tick), 'text-anchor="end"')}`;
  });
  const bottom = HEIGHT - PLOT.bottom;
  const below = xs.map((value) =>
    text(x(Math.log10(value)), bottom + 18, short(value), 'text-anchor="middle"'),
  );
  const lines = curves.map(({ server, points: own }) => {
    const at = own.map((point) => [x(Math.log10(point.x)).toFixed(1), y(of(point.y)).toFixed(1)] as const);
    const dots = at.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${colourOf(server)}"/>`);
    const path = at.map((pair) => pair.join(',')).join(' ');
    return `<polyline points="${path}" fill="none" stroke="${colourOf(server)}" stroke-width="2"/>${dots.join('')}`;
  });
  const middle = (PLOT.left + WIDTH - PLOT.right) / 2;
  return [
    text(PLOT.left, 20, title, 'font-weight="bold"'),
    ...grid,
    ...below,
    text(middle, HEIGHT - 8, xLabel, 'text-anchor="middle"'),
    ...lines,
  ].join('\n');
}

function scaled(from: number, to: number, first: number, last: number): (value: number) => number {
  return (value) =>
    to === from ? (first + last) / 2 : first + ((value - from) / (to - from)) * (last - first);
}

/** Powers of ten around the values. */
function powers(least: number, most: number): number[] {
  const first = Math.floor(Math.log10(least));
  const last = Math.ceil(Math.log10(most));
  return Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
}

/** From 0 to above `most`, at 1, 2 or 5 times a power of ten. */
function steps(most: number): number[] {
  const rough = most / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? most;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => i * step);
}

function short(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en');
}

function text(x: number, y: number, content: string, attributes = ''): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escaped}</text>`;
}

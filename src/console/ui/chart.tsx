// Charts over time: one time axis, gaps for missing values, exact values at the pointer, and a named unit.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Range } from '../api-types.js';
import { useCell } from '../lib/cell.js';
import { localTime } from '../lib/format.js';
import { t, useLanguage } from '../lib/i18n.js';
import { patchQuery } from '../lib/router.js';
import { shownTheme } from '../lib/theme.js';
import { Segments } from './form.js';

interface ChartSeries {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** Draws the series red, as a series of failures, whatever its position. */
  readonly isBad?: boolean;
}

interface ChartProps {
  readonly title: string;
  /** Start of each step, ISO 8601; left out while the data loads: the chart keeps its height. */
  readonly at?: readonly string[];
  readonly series: readonly ChartSeries[];
  readonly show: (value: number) => string;
  readonly kind?: 'line' | 'bars';
  /** The steps are whole days, so labels show no time of day. */
  readonly days?: boolean;
  readonly height?: number;
  /** Charts of one group show the pointer at the same moment. */
  readonly group?: string;
}

/** A series with fewer values than this also shows dots. */
const FEW = 12;
/** Distances of the horizontal lines. They are whole numbers, because counts and bytes are. */
const STEPS = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** Returns whether the last step is still in progress. Its count is incomplete: a line would show it as a drop. */
function isUnfinished(at: readonly string[]): boolean {
  const [before, last] = at.slice(-2).map((moment) => Date.parse(moment));
  return before !== undefined && last !== undefined && last + (last - before) > Date.now();
}

/** Splits each series so that its last, unfinished step is a paler bar. */
function splitLast(series: readonly ChartSeries[]): readonly (ChartSeries & { isPale: boolean })[] {
  return series.flatMap((one) => {
    const last = one.values.length - 1;
    const keep = (isPale: boolean) => ({
      ...one,
      isPale,
      values: one.values.map((value, i) => ((i === last) === isPale ? value : null)),
    });
    return [keep(false), keep(true)];
  });
}

const NO_STEPS: readonly string[] = [];

export function Chart(props: ChartProps) {
  const {
    title,
    at: steps = NO_STEPS,
    series,
    show,
    kind = 'line',
    days = false,
    height = 140,
    group,
  } = props;
  const holder = useRef<HTMLDivElement>(null);
  const theme = useCell(shownTheme);
  const language = useLanguage();
  const [index, setIndex] = useState<number | null>(null);
  const unfinished = isUnfinished(steps);
  const end = unfinished && kind === 'line' ? -1 : steps.length;
  const at = steps.slice(0, end);
  const shown = series.map((one) => ({ ...one, isPale: false, values: one.values.slice(0, end) }));
  const known = unfinished && kind === 'bars' ? splitLast(shown) : shown;
  // Without a series the plot would have no scale and no labels.
  const drawn = known.length > 0 ? known : [{ label: '', values: at.map(() => null), isPale: false }];
  const tone = (one: ChartSeries): string => (one.isBad ? 'bad' : `chart-${(indexOf(series, one) % 7) + 1}`);
  const x = at.map((moment) => Date.parse(moment) / 1_000);

  // The effect reads the theme's colours from the page.
  useEffect(() => {
    const element = holder.current;
    if (!element) return;
    const colours = getComputedStyle(element);
    const colour = (name: string) => colours.getPropertyValue(name).trim();
    // A bar is centred on its step, so the axis is half a step longer at both ends.
    const margin = kind === 'bars' && x.length > 1 ? ((x[1] ?? 0) - (x[0] ?? 0)) / 2 : 0;
    const axis = { stroke: colour('--soft'), font: '11px system-ui, sans-serif', ticks: { show: false } };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        // Half of the last label extends beyond the right end of the plot.
        padding: [8, 20, 0, 0],
        cursor: {
          y: false,
          points: { size: 6 },
          drag: { x: false, y: false },
          ...(group ? { sync: { key: group } } : {}),
        },
        scales: {
          x: { time: true, range: (_, low, high) => [low - margin, high + margin] },
          y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] },
        },
        axes: [
          {
            ...axis,
            size: 24,
            // Below the label of zero, which the first label of time would overlap at the left end.
            gap: 9,
            space: 72,
            grid: { show: false },
            values: (_, splits) => splits.map((split) => tick(split, x, days)),
          },
          {
            ...axis,
            size: 68,
            incrs: STEPS,
            space: 36,
            grid: { stroke: colour('--line'), width: 1 },
            values: (_, splits) => splits.map(show),
          },
        ],
        series: [
          {},
          ...drawn.map((one) => ({
            label: one.label,
            stroke: colour(`--${tone(one)}`),
            width: 1.5,
            // A line needs two points. Dots show the first values after a start.
            points: { show: one.values.filter((value) => value !== null).length < FEW, size: 5 },
            spanGaps: false,
            ...(kind === 'bars' && uPlot.paths.bars
              ? {
                  fill: colour(`--${tone(one)}`) + (one.isPale ? '66' : ''),
                  width: one.isPale ? 0 : 1.5,
                  paths: uPlot.paths.bars({ size: [0.6, 40] }),
                }
              : {}),
          })),
        ],
        hooks: { setCursor: [(self) => setIndex(self.cursor.idx ?? null)] },
      },
      [x, ...drawn.map((one) => [...one.values])] as uPlot.AlignedData,
      element,
    );
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
    };
  }, [JSON.stringify([at[0], at.at(-1), drawn]), theme, language, height, kind, group]);

  const isEmpty = at.length > 0 && shown.every((one) => one.values.every((value) => value === null));
  const shownAt = index ?? latest(shown);
  const moment = at[shownAt];
  return (
    <figure class={group ? 'chart card' : 'chart'}>
      <figcaption>
        <div class="row">
          <strong>{title}</strong>
          <span class="soft number">{moment === undefined ? '' : fullTime(moment, days)}</span>
        </div>
        <div class="legend">
          {shown.map((one) => {
            const value = one.values[shownAt];
            return (
              <span key={one.label} class="key">
                <i class="swatch" style={{ background: `var(--${tone(one)})` }} aria-hidden="true" />
                {one.label} <b class="number">{value === null || value === undefined ? '—' : show(value)}</b>
              </span>
            );
          })}
        </div>
      </figcaption>
      <div ref={holder} class="plot" role="img" aria-label={title} style={{ minHeight: `${height}px` }} />
      {isEmpty && <p class="no-data soft">{t('chart.empty')}</p>}
    </figure>
  );
}

/** Returns the index of the last step with a value; the legend shows that step while the pointer is elsewhere. -1: none. */
function latest(series: readonly ChartSeries[]): number {
  return Math.max(-1, ...series.map((one) => one.values.findLastIndex((value) => value !== null)));
}

const indexOf = (series: readonly ChartSeries[], one: ChartSeries): number =>
  series.findIndex(({ label }) => label === one.label);

/** `21:04`, or `11/20` for whole days and long ranges. */
function tick(seconds: number, x: readonly number[], days: boolean): string {
  const at = new Date(seconds * 1_000);
  const span = (x.at(-1) ?? 0) - (x[0] ?? 0);
  if (days || span > 3 * 86_400) return `${at.getMonth() + 1}/${at.getDate()}`;
  return localTime(at.toISOString()).slice(11, 16);
}

const fullTime = (moment: string, days: boolean): string =>
  days ? moment.slice(0, 10) : localTime(moment).slice(0, 16);

/** The time range of charts: an hour, a day or a month. The address holds it. */
const RANGES: readonly Range[] = ['hour', 'day', 'month'];
export function rangeOf(text: string | null, otherwise: Range): Range {
  return RANGES.find((range) => range === text) ?? otherwise;
}

export function RangeChoice({ value }: { value: Range }) {
  const options = RANGES.map((range) => ({ value: range, label: t(`range.${range}`) }));
  return (
    <Segments
      value={value}
      options={options}
      label={t('range.label')}
      onInput={(range) => patchQuery({ range }, 'push')}
    />
  );
}

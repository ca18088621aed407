/** Draws series over days with uPlot into an element, in the colours of its legend, and says which day somebody points at. It has no words of its own. */
import uPlot from "uplot";
import { type Look, type Series, type SeriesOfDays, topOf } from "../../text/chart-series.ts";
import { dateText } from "../../text/dates.ts";

interface PlotOptions extends SeriesOfDays {
  /** Of the vertical axis. */
  readonly tick: (value: number) => string;
  /** Elements in the colour of each series, in their order. */
  readonly keys: readonly Element[];
  /** As the words around the picture are; the picture itself is placed from the left in any case. */
  readonly isRightToLeft: () => boolean;
  /** The index of a day; null: none. */
  readonly onPoint: (at: number | null) => void;
}

export interface Plot extends Disposable {
  point(at: number | null): void;
}

const HEIGHT = 220;
const TEXT_PX = 12;
/** Days between two names of days. */
const STEPS = [1, 2, 7, 14, 28];
const MIN_NAME_PX = 64;
const MIN_TICK_PX = 28;
const DAYS_PX = 30;
/** At the end of the days, for the half of a name that stands over. */
const END_PX = 18;
const BAR_SHARE = 0.75;
const MAX_BAR_PX = 48;
/** Of the height: a bar that is there at all can be seen. */
const MIN_BAR = 0.012;
const HEADROOM = 1.08;
const DASHES: Readonly<Partial<Record<Look, number[]>>> = { forecast: [6, 5], limit: [2, 4] };

export function openPlot(place: HTMLElement, options: PlotOptions): Plot {
  const size = () => ({ width: Math.max(1, place.clientWidth), height: HEIGHT });
  const draw = () => new uPlot(shapeOf(place, options, size()), dataOf(options), place);
  let [isTurned, chart] = [options.isRightToLeft(), draw()];
  const sizes = new ResizeObserver(() => chart.setSize(size()));
  sizes.observe(place);
  const unfollow = followLook(() => {
    if (options.isRightToLeft() === isTurned) return chart.redraw(false);
    chart.destroy();
    [isTurned, chart] = [options.isRightToLeft(), draw()];
  });
  return {
    point: (at) => chart.setCursor({ left: at === null ? -1 : chart.valToPos(at, "x"), top: 0 }),
    [Symbol.dispose]() {
      sizes.disconnect();
      unfollow();
      chart.destroy();
    },
  };
}

/** The web console may become dark, or turn round, at any time. */
function followLook(changed: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", changed);
  const root = new MutationObserver(changed);
  root.observe(document.documentElement, { attributeFilter: ["data-theme", "dir"] });
  return () => {
    dark.removeEventListener("change", changed);
    root.disconnect();
  };
}

function dataOf({ days, series }: SeriesOfDays): uPlot.AlignedData {
  const least = topOf(series) * MIN_BAR;
  const drawn = ({ look, values }: Series) =>
    look === "bars" ? values.map((value) => (value ? Math.max(value, least) : value)) : [...values];
  return [days.map((_, index) => index), ...series.map(drawn)];
}

interface Size {
  readonly width: number;
  readonly height: number;
}

function shapeOf(place: HTMLElement, options: PlotOptions, { width, height }: Size): uPlot.Options {
  const isRtl = options.isRightToLeft();
  const { days, series, onPoint } = options;
  const top = topOf(series) * HEADROOM || 1;
  return {
    width,
    height,
    padding: isRtl ? [8, 2, 0, END_PX] : [8, END_PX, 0, 2],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { show: false },
      move: (chart, left, top) => [left < 0 ? left : chart.valToPos(chart.posToIdx(left), "x"), top],
    },
    scales: {
      x: { time: false, range: [-0.5, days.length - 0.5], dir: isRtl ? -1 : 1 },
      y: { range: [0, top] },
    },
    axes: axesOf(place, options, isRtl),
    series: [{}, ...series.map((one, index) => lineOf(one, options.keys[index] ?? place))],
    hooks: { setCursor: [(chart) => onPoint(chart.cursor.idx ?? null)] },
  };
}

function axesOf(place: HTMLElement, { days, tick }: PlotOptions, isRtl: boolean): uPlot.Axis[] {
  const look = getComputedStyle(place);
  const font = `${TEXT_PX}px ${look.fontFamily}`;
  const stroke = () => look.color;
  const line = { stroke: () => look.borderTopColor, width: 1 };
  const dayOf = (index: number) => dateText(Date.parse(days[index] ?? ""), "shortDay");
  return [
    {
      font,
      stroke,
      size: DAYS_PX,
      space: MIN_NAME_PX,
      incrs: STEPS,
      grid: { show: false },
      ticks: { ...line, size: 4 },
      values: (_chart, splits) => splits.map((index) => (days[index] === undefined ? "" : dayOf(index))),
    },
    {
      font,
      stroke,
      side: isRtl ? 1 : 3,
      space: MIN_TICK_PX,
      grid: line,
      ticks: { show: false },
      size: (chart, values) => widest(chart, font, values ?? []),
      values: (_chart, splits) => splits.map(tick),
    },
  ];
}

const AXIS_GAP_PX = 14;

function widest({ ctx }: uPlot, font: string, values: readonly string[]): number {
  ctx.save();
  ctx.font = font;
  const width = Math.max(0, ...values.map((text) => ctx.measureText(text).width));
  ctx.restore();
  return Math.ceil(width) + AXIS_GAP_PX;
}

function lineOf({ look, values }: Series, key: Element): uPlot.Series {
  const colours = getComputedStyle(key);
  const stroke = () => colours.color;
  const dash = DASHES[look];
  if (look === "bars") {
    const paths = uPlot.paths.bars?.({ size: [BAR_SHARE, MAX_BAR_PX] });
    return { width: 0, fill: stroke, points: { show: false }, ...(paths === undefined ? {} : { paths }) };
  }
  return {
    width: 2,
    stroke,
    points: { show: values.filter((value) => value !== null).length === 1 },
    ...(look === "area" ? { fill: () => colours.backgroundColor } : {}),
    ...(dash === undefined ? {} : { dash }),
  };
}

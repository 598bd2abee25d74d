/** A line chart of a cost by size. */
export interface LineChart {
  readonly title: string
  /** The sizes, at equal distances. */
  readonly sizes: readonly string[]
  /** True for a logarithmic vertical axis. A linear axis begins at 0. */
  readonly logarithmic: boolean
  /** The values of at most two lines, by name. A value belongs to the size of the same index. */
  readonly lines: Readonly<Record<string, readonly number[]>>
}

/** A bar chart with two bars for each row. A value is undefined if it was not measured. */
export interface BarChart {
  readonly title: string
  readonly bars: readonly [string, string]
  readonly rows: readonly { readonly name: string; readonly values: readonly (number | undefined)[] }[]
}

// The image has its own background, because a page may have another colour scheme than the system.
const style = `
  .background { fill: #ffffff } .grid { stroke: #d8dee4 } text { fill: #24292f; font: 12px system-ui, sans-serif }
  .title { font-weight: 600 } .line { fill: none; stroke-width: 2 }
  .line0, .mark0 { stroke: #0550ae } .line1, .mark1 { stroke: #953800 }
  .name0, .mark0, .bar0 { fill: #0550ae } .name1, .mark1, .bar1 { fill: #953800 }
  @media (prefers-color-scheme: dark) {
    .background { fill: #0d1117 } .grid { stroke: #30363d } text { fill: #e6edf3 }
    .line0, .mark0 { stroke: #79c0ff } .line1, .mark1 { stroke: #ffa657 }
    .name0, .mark0, .bar0 { fill: #79c0ff } .name1, .mark1, .bar1 { fill: #ffa657 }
  }
`

function svgOf(title: string, { width, height }: typeof size, content: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escape(title)}</title>`,
    `<style>${style}</style>`,
    `<rect class="background" width="${width}" height="${height}" rx="6"/>`,
    text({ x: 12, y: 24, className: 'title' }, title),
    ...content,
    '</svg>\n',
  ].join('\n')
}

/** The attributes of a text. */
type Placement = Readonly<{ x: number; y: number; anchor?: string; className?: string }>

function text({ x, y, anchor = 'start', className }: Placement, content: string): string {
  const attribute = className === undefined ? '' : ` class="${className}"`
  return `<text${attribute} x="${x}" y="${y}" text-anchor="${anchor}">${escape(content)}</text>`
}

const round = (value: number): number => Math.round(value * 10) / 10

/** 360 by 250 is readable on a phone without scaling, and a page shows two of them side by side. */
const size = { width: 360, height: 250 }
const plot = { left: 48, right: 344, top: 62, bottom: 222 }

/** Draws a line chart as an SVG with colours for light and dark schemes. */
export function drawLineChart({ title, sizes, logarithmic, lines }: LineChart): string {
  const values = Object.values(lines).flat()
  const ticks = logarithmic ? powersOfTen(values) : steps(Math.max(...values))
  const scale = logarithmic ? Math.log10 : (value: number): number => value
  const [min = 0, max = 1] = [scale(ticks[0] ?? 0), scale(ticks.at(-1) ?? 1)]
  const x = (index: number): number =>
    round(plot.left + 16 + ((plot.right - plot.left - 32) * index) / Math.max(1, sizes.length - 1))
  const y = (value: number): number =>
    round(plot.bottom - ((plot.bottom - plot.top) * (scale(value) - min)) / (max - min))
  return svgOf(title, size, [
    ...Object.keys(lines).flatMap((name, index) => [
      `<circle class="mark${index}" r="4" cx="${16 + index * 130}" cy="40"/>`,
      text({ x: 24 + index * 130, y: 44, className: `name${index}` }, name),
    ]),
    ...ticks.flatMap((tick) => [
      `<line class="grid" x1="${plot.left}" x2="${plot.right}" y1="${y(tick)}" y2="${y(tick)}"/>`,
      text({ x: plot.left - 6, y: y(tick) + 4, anchor: 'end' }, tick.toLocaleString('en')),
    ]),
    ...sizes.map((label, index) => text({ x: x(index), y: plot.bottom + 20, anchor: 'middle' }, label)),
    ...Object.values(lines).flatMap((line, index) => [
      `<polyline class="line line${index}" points="${line.map((value, at) => `${x(at)},${y(value)}`).join(' ')}"/>`,
      ...line.map((value, at) => `<circle class="mark${index}" r="2.5" cx="${x(at)}" cy="${y(value)}"/>`),
    ]),
  ])
}

/** Draws a bar chart as an SVG with colours for light and dark schemes. */
export function drawBarChart({ title, bars, rows }: BarChart): string {
  const [width, left, top, rowHeight] = [720, 250, 62, 40]
  const largest = Math.max(...rows.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const length = (value: number): number => Math.round((value / largest) * (width - left - 70))
  const drawBar = (value: number | undefined, index: number, y: number): readonly string[] =>
    value === undefined
      ? [text({ x: left, y: y + 11 }, 'not measured')]
      : [
          `<rect class="bar${index}" x="${left}" y="${y}" width="${Math.max(1, length(value))}" height="13"/>`,
          text({ x: left + length(value) + 6, y: y + 11 }, String(value)),
        ]
  return svgOf(title, { width, height: top + rows.length * rowHeight + 8 }, [
    ...bars.flatMap((name, index) => [
      `<rect class="bar${index}" x="${12 + index * 200}" y="36" width="12" height="12"/>`,
      text({ x: 30 + index * 200, y: 46 }, name),
    ]),
    ...rows.flatMap(({ name, values }, row) => [
      text({ x: left - 10, y: top + row * rowHeight + 18, anchor: 'end' }, name),
      ...values.flatMap((value, index) => drawBar(value, index, top + row * rowHeight + index * 15)),
    ]),
  ])
}

function powersOfTen(values: readonly number[]): readonly number[] {
  const first = Math.floor(Math.log10(Math.min(...values)))
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values))))
  return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index))
}

/** Returns three to six multiples of 1, 2 or 5 times a power of ten, from 0 to at least the largest value. */
function steps(largest: number): readonly number[] {
  const power = 10 ** Math.floor(Math.log10(largest / 2))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => largest / one <= 5) ?? power * 10
  return Array.from({ length: Math.ceil(largest / step) + 1 }, (_, index) => Number((index * step).toPrecision(12)))
}

function escape(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

/** A line chart of a cost by size. */
export interface Chart {
  readonly title: string
  /** The sizes, at equal distances. */
  readonly sizes: readonly string[]
  /** True for a logarithmic vertical axis. A linear axis begins at 0. */
  readonly logarithmic: boolean
  /** At most three lines. A value belongs to the size of the same index. */
  readonly lines: readonly Line[]
}

interface Line {
  readonly name: string
  readonly values: readonly number[]
}

/** An image of 360 by 250 is readable on a phone without scaling, and a page shows two of them side by side. */
const width = 360
const height = 250
const plot = { left: 48, right: 344, top: 62, bottom: 222 }

// The image has its own background, because a page may have another colour scheme than the system.
const style = `
  .background { fill: #ffffff } .grid { stroke: #d8dee4 } text { fill: #24292f; font: 12px system-ui, sans-serif }
  .title { font-weight: 600 } .line { fill: none; stroke-width: 2 }
  .line0, .mark0 { stroke: #0550ae } .line1, .mark1 { stroke: #953800 } .line2, .mark2 { stroke: #57606a }
  .name0, .mark0 { fill: #0550ae } .name1, .mark1 { fill: #953800 } .name2, .mark2 { fill: #57606a }
  @media (prefers-color-scheme: dark) {
    .background { fill: #0d1117 } .grid { stroke: #30363d } text { fill: #e6edf3 }
    .line0, .mark0 { stroke: #79c0ff } .line1, .mark1 { stroke: #ffa657 } .line2, .mark2 { stroke: #8b949e }
    .name0, .mark0 { fill: #79c0ff } .name1, .mark1 { fill: #ffa657 } .name2, .mark2 { fill: #8b949e }
  }
`

/** Draws a chart as an SVG with colours for light and dark schemes. */
export function drawChart({ title, sizes, logarithmic, lines }: Chart): string {
  const values = lines.flatMap((line) => line.values)
  const ticks = logarithmic ? powersOfTen(values) : steps(Math.max(...values))
  const scale = logarithmic ? Math.log10 : (value: number): number => value
  const [min = 0, max = 1] = [scale(ticks[0] ?? 0), scale(ticks.at(-1) ?? 1)]
  const x = (index: number): number =>
    round(plot.left + 16 + ((plot.right - plot.left - 32) * index) / Math.max(1, sizes.length - 1))
  const y = (value: number): number =>
    round(plot.bottom - ((plot.bottom - plot.top) * (scale(value) - min)) / (max - min))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escape(title)}</title>`,
    `<style>${style}</style>`,
    `<rect class="background" width="${width}" height="${height}" rx="6"/>`,
    text({ x: 12, y: 24, className: 'title' }, title),
    ...drawNames(lines),
    ...ticks.flatMap((tick) => [
      `<line class="grid" x1="${plot.left}" x2="${plot.right}" y1="${y(tick)}" y2="${y(tick)}"/>`,
      text({ x: plot.left - 6, y: y(tick) + 4, anchor: 'end' }, tick.toLocaleString('en')),
    ]),
    ...sizes.map((size, index) => text({ x: x(index), y: plot.bottom + 20, anchor: 'middle' }, size)),
    ...lines.flatMap((line, index) => drawLine(line, index, { x, y })),
    '</svg>\n',
  ].join('\n')
}

interface Axes {
  readonly x: (index: number) => number
  readonly y: (value: number) => number
}

function drawLine({ values }: Line, index: number, { x, y }: Axes): readonly string[] {
  const points = values.map((value, at) => `${x(at)},${y(value)}`)
  return [
    `<polyline class="line line${index}" points="${points.join(' ')}"/>`,
    ...values.map((value, at) => `<circle class="mark${index}" r="2.5" cx="${x(at)}" cy="${y(value)}"/>`),
  ]
}

/** Draws the names of the lines below the title. A character is about 7 units wide. */
function drawNames(lines: readonly Line[]): readonly string[] {
  let x = 16
  return lines.flatMap(({ name }, index) => {
    const entry = [
      `<circle class="mark${index}" r="4" cx="${x}" cy="40"/>`,
      text({ x: x + 8, y: 44, className: `name${index}` }, name),
    ]
    x += 30 + 7 * name.length
    return entry
  })
}

interface Placement {
  readonly x: number
  readonly y: number
  readonly anchor?: string
  readonly className?: string
}

function text({ x, y, anchor = 'start', className }: Placement, content: string): string {
  const attribute = className === undefined ? '' : ` class="${className}"`
  return `<text${attribute} x="${x}" y="${y}" text-anchor="${anchor}">${escape(content)}</text>`
}

function powersOfTen(values: readonly number[]): readonly number[] {
  const first = Math.floor(Math.log10(Math.min(...values)))
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values))))
  return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index))
}

/** Returns three to six multiples of 1, 2 or 5 times a power of ten, from 0 to at least the largest value. */
function steps(largest: number): readonly number[] {
  const power = 10 ** Math.floor(Math.log10(largest / 2))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => largest / size <= 5) ?? power * 10
  return Array.from({ length: Math.ceil(largest / step) + 1 }, (_, index) => Number((index * step).toPrecision(12)))
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function escape(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

/** A bar chart with two bars for each name. */
export interface BarChart {
  readonly title: string
  /** The names of the two bars. */
  readonly bars: readonly [string, string]
  readonly rows: readonly BarRow[]
}

interface BarRow {
  readonly name: string
  /** Undefined for a value that was not measured. */
  readonly values: readonly [number | undefined, number | undefined]
}

const width = 720
const left = 210
const barHeight = 13
const rowHeight = 40
const top = 62

// The image has its own background, because a page may have another colour scheme than the system.
const style = `
  .background { fill: #ffffff } text { fill: #24292f; font: 12px system-ui, sans-serif }
  .title { font-weight: 600 } .bar0 { fill: #0550ae } .bar1 { fill: #953800 }
  @media (prefers-color-scheme: dark) {
    .background { fill: #0d1117 } text { fill: #e6edf3 } .bar0 { fill: #79c0ff } .bar1 { fill: #ffa657 }
  }
`

/** Draws a bar chart as an SVG with colours for light and dark schemes. */
export function drawBarChart({ title, bars, rows }: BarChart): string {
  const largest = Math.max(...rows.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const length = (value: number): number => Math.round((value / largest) * (width - left - 70))
  const height = top + rows.length * rowHeight + 8
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escape(title)}</title>`,
    `<style>${style}</style>`,
    `<rect class="background" width="${width}" height="${height}" rx="6"/>`,
    `<text class="title" x="12" y="24">${escape(title)}</text>`,
    ...bars.flatMap((name, index) => [
      `<rect class="bar${index}" x="${12 + index * 200}" y="36" width="12" height="12"/>`,
      `<text x="${30 + index * 200}" y="46">${escape(name)}</text>`,
    ]),
    ...rows.flatMap(({ name, values }, row) => [
      `<text x="${left - 10}" y="${top + row * rowHeight + 18}" text-anchor="end">${escape(name)}</text>`,
      ...values.flatMap((value, index) => drawBar(value, index, { y: top + row * rowHeight + index * 15, length })),
    ]),
    '</svg>\n',
  ].join('\n')
}

interface Place {
  readonly y: number
  readonly length: (value: number) => number
}

function drawBar(value: number | undefined, index: number, { y, length }: Place): readonly string[] {
  if (value === undefined) return [`<text x="${left}" y="${y + 11}">not measured</text>`]
  return [
    `<rect class="bar${index}" x="${left}" y="${y}" width="${Math.max(1, length(value))}" height="${barHeight}"/>`,
    `<text x="${left + length(value) + 6}" y="${y + 11}">${value < 10 ? value.toFixed(1) : value.toFixed(0)}</text>`,
  ]
}

function escape(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

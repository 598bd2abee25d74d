import { readFile, writeFile } from 'node:fs/promises'
import { drawBarChart } from './charts.ts'

/** A ratio to the server by hand: the median of several rounds, and their range. */
export interface Figure {
  readonly median: number
  readonly from: number
  readonly to: number
}

/** What `pnpm bench asks` measured of one server. `asks` is null where it is not measured. */
export interface ServerFigures {
  readonly name: string
  readonly revision: string
  readonly call: Figure | null
  readonly asks: Figure | null
}

/** The files that have the figures. The home of the site reads the first one. */
export const figureFiles = {
  figures: new URL('../../../docs/charts/servers.json', import.meta.url),
  chart: new URL('../../../docs/charts/servers.svg', import.meta.url),
  page: new URL('../../../docs/performance.md', import.meta.url),
} as const

const title = 'CPU of a server, in multiples of a hand-written one'
const bars = ['a call', 'a POST of a call that asks twice'] as const
const head =
  '| server | revision | CPU of a call | CPU of a POST of a call that asks twice |\n| --- | --- | --- | --- |'
const place = /(?<=<!-- servers -->\n)[\s\S]*?(?=\n<!-- \/servers -->)/

/** Writes the figures, and draws their chart and their table. */
export async function writeFigures(servers: readonly ServerFigures[]): Promise<void> {
  await writeFile(figureFiles.figures, `${JSON.stringify(servers, undefined, 2)}\n`)
  await writeFile(figureFiles.chart, drawServers(servers))
  await writeFile(figureFiles.page, withTable(await readFile(figureFiles.page, 'utf8'), servers))
}

/** Draws the chart at the top of the page on performance. */
export function drawServers(servers: readonly ServerFigures[]): string {
  const rows = servers.map(({ name, call, asks }) => ({ name, values: [call?.median, asks?.median] }))
  return drawBarChart({ title, bars, rows })
}

/** Replaces the table below the chart. */
export function withTable(page: string, servers: readonly ServerFigures[]): string {
  const rows = servers.map(
    ({ name, revision, call, asks }) => `| ${[name, revision, cell(call), cell(asks)].join(' | ')} |`,
  )
  return page.replace(place, () => [head, ...rows].join('\n'))
}

function cell(figure: Figure | null): string {
  if (figure === null) return 'not measured'
  const { median, from, to } = figure
  return from === to ? String(median) : `${median} (${from} to ${to})`
}

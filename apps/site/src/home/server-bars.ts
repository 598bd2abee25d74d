import { escapeHtml } from './html.ts'

interface Figure {
  readonly median: number
}

/** One server of `docs/charts/servers.json`. */
export interface MeasuredServer {
  readonly name: string
  readonly call: Figure | null
  readonly asks: Figure | null
}

const columns = [
  ['call', 'a call'],
  ['asks', 'a POST of a call that asks twice'],
] as const

/**
 * Draws the CPU of servers as a table whose cells are bars, so that everybody reads the same numbers. `caption` is HTML.
 */
export function drawServerBars(servers: readonly MeasuredServer[], caption: string): string {
  const medians = servers.flatMap(({ call, asks }) => [call?.median ?? 0, asks?.median ?? 0])
  const largest = Math.max(...medians)
  const head = columns.map(([kind, text]) => `<th scope="col" class="${kind}">${text}</th>`)
  const rows = servers.map((server) => {
    const cells = columns.map(([kind]) => barCell(kind, server[kind], largest))
    return `<tr><th scope="row">${escapeHtml(server.name)}</th>${cells.join('')}</tr>`
  })
  return `<table class="bars"><caption>${caption}</caption><thead><tr><th scope="col">server</th>${head.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>`
}

function barCell(kind: string, figure: Figure | null, largest: number): string {
  if (figure === null) return `<td class="${kind}">not measured</td>`
  const share = ((100 * figure.median) / largest).toFixed(1)
  return `<td class="${kind}"><span class="bar" style="width: calc(${share} * (100% - 3em) / 100)"></span> ${figure.median}</td>`
}

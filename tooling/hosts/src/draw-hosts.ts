import type { HostResult } from './run-host.ts'

type Row = readonly [name: string, cellOf: (host: HostResult) => string]

const groups = [
  ['agent', 'Hosts with a model'],
  ['tool', 'Tools without a model'],
  ['library', 'Libraries'],
] as const
const place = /(?<=<!-- hosts -->\n)[\s\S]*?(?=\n<!-- \/hosts -->)/

/** Draws the tables of hosts into the text of their page, with a table for each kind of host. */
export function drawHosts(page: string, hosts: readonly HostResult[]): string {
  const tables = groups.flatMap(([kind, title]) => {
    const members = hosts.filter((host) => host.kind === kind)
    return members.length === 0 ? [] : [`\n### ${title}\n\n${tableOf(members)}\n`]
  })
  return page.replace(place, () => tables.join(''))
}

function tableOf(hosts: readonly HostResult[]): string {
  // A feature is tried at several places. A situation is a place of its own, with one feature of the same name.
  const features = new Set(hosts.flatMap(({ cells }) => Object.values(cells).flatMap((tried) => Object.keys(tried))))
  const rows: readonly Row[] = [
    ['version', ({ version }) => version],
    ['date of the run', ({ date }) => date],
    ['begins with', ({ begins }) => begins.map((method) => `\`${method}\``).join(', ')],
    ['revision', ({ revision }) => revision],
    ['declares', ({ capabilities }) => capabilitiesOf(capabilities)],
    ...[...features].map((feature): Row => [feature, ({ cells }) => outcomeOf(cells, feature)]),
  ]
  const head = ['', ...hosts.map(({ host }) => host)]
  const lines = [head, head.map(() => '---'), ...rows.map(([name, cellOf]) => [name, ...hosts.map(cellOf)])]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function capabilitiesOf(capabilities: HostResult['capabilities']): string {
  const names = Object.entries(capabilities).flatMap(([name, value]) => {
    const children = name === 'extensions' || name === 'elicitation' ? Object.keys(Object(value)) : []
    return children.length === 0 ? [`\`${name}\``] : children.map((child) => `\`${name}.${child}\``)
  })
  return names.length === 0 ? 'nothing' : names.join(', ')
}

/** Returns the outcome of a feature, with the places that differ from the first one. */
function outcomeOf(cells: HostResult['cells'], feature: string): string {
  const found = Object.entries(cells).flatMap(([name, { [feature]: cell }]) => (cell ? [{ name, ...cell }] : []))
  const outcomes = new Set(found.map(({ outcome }) => outcome))
  if (outcomes.size === 0) return 'not run'
  if (outcomes.size === 1) return [...outcomes].join()
  return found.map(({ name, outcome }) => `${name}: ${outcome}`).join('<br>')
}

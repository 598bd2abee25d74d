import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { drawTable, tableProblems } from './page-tables.mjs'

/**
 * @typedef {{ outcome: string, seen: string }} Cell
 * @typedef {Readonly<Record<string, Readonly<Record<string, Cell>>>>} Cells
 * @typedef {{ host: string, kind: string, version: string, date: string, begins: readonly string[], revision: string,
 *   capabilities: Readonly<Record<string, unknown>>, cells: Cells }} Host
 */

/** @type {readonly (readonly [kind: string, title: string])[]} */
const groups = [
  ['agent', 'Hosts with a model'],
  ['tool', 'Tools without a model'],
  ['library', 'Libraries'],
]

/**
 * Compares the tables of docs/hosts.md with docs/hosts.json, which `pnpm hosts` writes. With `writes`, they are updated.
 * @param {string} root
 * @param {boolean} writes
 */
export function hostTableProblems(root, writes) {
  const path = join(root, 'docs/hosts.json')
  if (!existsSync(path)) return []
  /** @type {readonly Host[]} */
  const hosts = JSON.parse(readFileSync(path, 'utf8'))
  const tables = groups.flatMap(([kind, title]) => {
    const members = hosts.filter((host) => host.kind === kind)
    return members.length === 0 ? [] : [`\n### ${title}\n\n${tableOf(members)}\n`]
  })
  return tableProblems(root, { page: 'docs/hosts.md', name: 'hosts', table: tables.join('') }, writes)
}

/** @param {readonly Host[]} hosts */
function tableOf(hosts) {
  /** @param {string} name @param {(host: Host) => string} cell */
  const row = (name, cell) => [name, ...hosts.map(cell)]
  // A feature is tried at several places. A situation is a place of its own, with one feature of the same name.
  const features = new Set(hosts.flatMap(({ cells }) => Object.values(cells).flatMap((place) => Object.keys(place))))
  const rows = [
    row('version', ({ version }) => version),
    row('date of the run', ({ date }) => date),
    row('begins with', ({ begins }) => begins.map((method) => `\`${method}\``).join(', ')),
    row('revision', ({ revision }) => revision),
    row('declares', ({ capabilities }) => capabilitiesOf(capabilities)),
    ...[...features].map((feature) => row(feature, ({ cells }) => outcomeOf(cells, feature))),
  ]
  return drawTable(['', ...hosts.map(({ host }) => host)], rows)
}

/** @param {Readonly<Record<string, unknown>>} capabilities */
function capabilitiesOf(capabilities) {
  const names = Object.entries(capabilities).flatMap(([name, value]) => {
    const children = name === 'extensions' || name === 'elicitation' ? Object.keys(Object(value)) : []
    return children.length === 0 ? [`\`${name}\``] : children.map((child) => `\`${name}.${child}\``)
  })
  return names.length === 0 ? 'nothing' : names.join(', ')
}

/**
 * Returns the outcome of a feature, with the places that differ from the first one.
 * @param {Cells} cells
 * @param {string} feature
 */
function outcomeOf(cells, feature) {
  const found = Object.entries(cells).flatMap(([place, { [feature]: cell }]) => (cell ? [{ place, ...cell }] : []))
  const outcomes = new Set(found.map(({ outcome }) => outcome))
  if (outcomes.size === 0) return 'not run'
  if (outcomes.size === 1) return [...outcomes].join()
  return found.map(({ place, outcome }) => `${place}: ${outcome}`).join('<br>')
}

import { readFile, writeFile } from 'node:fs/promises'
import { median, medianOf, type Round, sharesOf } from './alternating.ts'
import { echoCall } from './calls.ts'
import { drawBarChart } from './charts.ts'
import { firstCall } from './flow-calls.ts'
import { type CallMeasurement, measureTargets, startLoad, startTarget, type Target } from './load.ts'
import { peers, peersFolder } from './peers.ts'
import { pinning, startServer } from './processes.ts'
import { print } from './ratios.ts'

/** A server of the comparison. Its plain call may be that of another row, and its questions may not be measured. */
interface AskingServer {
  readonly name: string
  readonly revision: string
  /** The name of a server of `peers`. */
  readonly peer?: string
  /** A program with the tool that asks twice. */
  readonly asks?: string
}

const base = 'by hand'
const current = '2026-07-28'
const older = '2025-06-18, 2025-11-25'

const servers: readonly AskingServer[] = [
  { name: base, revision: current, asks: 'by-hand/flow' },
  { name: 'these packages', revision: current, peer: 'ours', asks: 'our-servers/flow' },
  { name: 'the same, schemas in the handler', revision: current, asks: 'our-servers/flow/inline' },
  { name: 'these packages, older clients', revision: older, peer: 'ours, older', asks: 'our-servers/flow-older' },
  { name: 'official SDK v2', revision: current, peer: 'official v2', asks: 'official-v2/flow' },
  { name: 'official SDK v1', revision: older, peer: 'official v1', asks: 'official-v1/flow' },
  { name: 'FastMCP 4.20.16', revision: '2025-06-18', peer: 'FastMCP' },
  { name: 'tmcp 1.20.0', revision: current, peer: 'tmcp' },
  { name: 'mcp-lite 0.10.0', revision: '2025-06-18', peer: 'mcp-lite' },
]

/**
 * Compares the CPU of a call, and of a call that asks its user twice, of several servers with that of the hand-written
 * one, and writes the figures with the chart and the table of `docs/performance.md`.
 *
 * Method: calls are those of `peers`, over 16 connections. A call that asks is three POSTs in each revision, and the
 * figure is of one of them. At 2026-07-28 a state of the server comes back with each answer. At 2025-11-25 each of 16
 * users has a session, and sends the answers on a second connection while the response of the call is open. Servers
 * take turns within a round, in slices of their own CPU, and ratios are formed within a round. Packages come from the
 * workspace. Not measured: a call that asks of FastMCP, tmcp and mcp-lite, the start of a session, and memory.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const timing = {
    ...(quick ? { rounds: 3, seconds: 0.15, warmUp: 3 } : { rounds: 9, seconds: 0.3, warmUp: 5 }),
    unit: 'cpu',
    users: 16,
  } as const
  const calls = await measureTargets(await startCalls(), timing)
  const asks = await measureTargets(await startAsks(), timing)
  print(`CPU in multiples of the hand-written server, Node ${process.version}; ${pinning}; 16 connections`)
  print(`medians of ${timing.rounds} rounds of ${timing.seconds} s of CPU, and their range`)
  const figures = servers.map(({ name, revision }) => {
    return { name, revision, call: figureOf(calls, name), asks: figureOf(asks, name) }
  })
  const microseconds = (rounds: Rounds, name: string): string => medianOf(rounds, name, cpuOf).toFixed(0)
  for (const one of figures) print(rowOf(one))
  print(
    `by hand: ${microseconds(calls, base)} us for a call, ${microseconds(asks, base)} us for a POST of one that asks`,
  )
  await writeFile(figureFiles.figures, `${JSON.stringify(figures, undefined, 2)}\n`)
  await writeFile(figureFiles.chart, drawServers(figures))
  await writeFile(figureFiles.page, withTable(await readFile(figureFiles.page, 'utf8'), figures))
}

async function startCalls(): Promise<readonly Target[]> {
  const load = await startLoad()
  const targets = [await startTarget('by-hand/echo', { name: base, call: echoCall, load })]
  for (const { name, peer: peerName } of servers) {
    const peer = peers.find((one) => one.name === peerName)
    if (peer === undefined) continue
    const options = { folder: peersFolder, run: ['--conditions=dist', peer.file] }
    targets.push(await startTarget(peer.name, { name, call: peer.call, load }, options))
  }
  return targets
}

async function startAsks(): Promise<readonly Target[]> {
  const [currentLoad, olderLoad] = [await startLoad('flow/current'), await startLoad('flow/older')]
  const targets: Target[] = []
  for (const { name, revision, asks } of servers) {
    if (asks === undefined) continue
    const load = revision === current ? currentLoad : olderLoad
    targets.push({ ...(await startServer(asks)), name, call: firstCall, load })
  }
  return targets
}

type Rounds = readonly Round<CallMeasurement>[]

const cpuOf = ({ cpu }: CallMeasurement): number => cpu

function figureOf(rounds: Rounds, name: string): Figure | null {
  if (!rounds.every((round) => round.has(name))) return null
  const shares = sharesOf(rounds, { name, base, of: cpuOf })
  const [middle = 0, from = 0, to = 0] = [median(shares), Math.min(...shares), Math.max(...shares)].map((share) =>
    Number(share.toPrecision(3)),
  )
  return { median: middle, from, to }
}

/** A ratio to the server by hand: the median of several rounds, and their range. */
interface Figure {
  readonly median: number
  readonly from: number
  readonly to: number
}

/** What was measured of one server. */
interface ServerFigures {
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

/** Draws the chart at the top of the page on performance. */
export function drawServers(servers: readonly ServerFigures[]): string {
  const rows = servers.map(({ name, call, asks }) => ({ name, values: [call?.median, asks?.median] }))
  return drawBarChart({ title, bars, rows })
}

/** Replaces the table below the chart. */
export function withTable(page: string, servers: readonly ServerFigures[]): string {
  return page.replace(place, () => [head, ...servers.map(rowOf)].join('\n'))
}

function rowOf({ name, revision, call, asks }: ServerFigures): string {
  return `| ${[name, revision, figureCell(call), figureCell(asks)].join(' | ')} |`
}

function figureCell(figure: Figure | null): string {
  if (figure === null) return 'not measured'
  const { median, from, to } = figure
  return from === to ? String(median) : `${median} (${from} to ${to})`
}

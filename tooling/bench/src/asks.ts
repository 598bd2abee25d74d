import { fileURLToPath } from 'node:url'
import { median, measureRounds, medianOf, rangeText, type Round, sharesOf } from './alternating.ts'
import type { Call } from './calls.ts'
import { echoCall } from './calls.ts'
import { firstCall } from './flow-calls.ts'
import { checkAnswer, type Load, measureCalls } from './load.ts'
import { peers, peersFolder } from './peers.ts'
import { pinning, type RunningServer, startPrinting, startProgram, startServer } from './processes.ts'
import { print } from './ratios.ts'
import { type Figure, writeFigures } from './server-figures.ts'

/** A server of the comparison. Its plain call may be that of another row, and its questions may not be measured. */
interface AskingServer {
  readonly name: string
  readonly revision: string
  /** The name of a server of `peers`. */
  readonly peer?: string
  /** A program with the tool that asks twice, and the load that answers it. */
  readonly asks?: readonly [program: string, load: 'flow/current' | 'flow/older']
}

const base = 'by hand'

const current = '2026-07-28'
const older = '2025-06-18, 2025-11-25'

const servers: readonly AskingServer[] = [
  { name: base, revision: current, asks: ['by-hand/flow', 'flow/current'] },
  { name: 'these packages', revision: current, peer: 'ours', asks: ['our-servers/flow', 'flow/current'] },
  { name: 'the same, schemas in the handler', revision: current, asks: ['our-servers/flow/inline', 'flow/current'] },
  {
    name: 'these packages, older clients',
    revision: older,
    peer: 'ours, older',
    asks: ['our-servers/flow-older', 'flow/older'],
  },
  { name: 'official SDK v2', revision: current, peer: 'official v2', asks: ['official-v2/flow', 'flow/current'] },
  { name: 'official SDK v1', revision: older, peer: 'official v1', asks: ['official-v1/flow', 'flow/older'] },
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
  const timing = quick ? { rounds: 3, seconds: 0.15, warmUp: 3 } : { rounds: 9, seconds: 0.3, warmUp: 5 }
  const calls = await measureAll(await startCalls(), timing)
  const asks = await measureAll(await startAsks(), timing)
  print(`CPU in multiples of the hand-written server, Node ${process.version}; ${pinning}; 16 connections`)
  print(`medians of ${timing.rounds} rounds of ${timing.seconds} s of CPU, and their range`)
  for (const { name } of servers) print(`| ${name} | ${cell(calls, name)} | ${cell(asks, name)} |`)
  await writeFigures(
    servers.map(({ name, revision }) => ({ name, revision, call: figureOf(calls, name), asks: figureOf(asks, name) })),
  )
}

interface Target {
  readonly name: string
  readonly load: Load
  readonly server: RunningServer
  readonly call: Call
}

async function startCalls(): Promise<readonly Target[]> {
  const load: Load = await startProgram('load/sockets', 1)
  const targets: Target[] = [{ name: base, load, server: await startServer('by-hand/echo'), call: echoCall }]
  for (const { name, peer: peerName } of servers) {
    const peer = peers.find((one) => one.name === peerName)
    if (peer === undefined) continue
    const program = {
      folder: fileURLToPath(peersFolder),
      file: peer.file,
      arguments: ['--conditions=dist'],
      core: 0,
    } as const
    const server = await startPrinting(program)
    await checkAnswer(server, peer.call)
    targets.push({ name, load, server, call: peer.call })
  }
  return targets
}

async function startAsks(): Promise<readonly Target[]> {
  const loads = { 'flow/current': await startLoad('flow/current'), 'flow/older': await startLoad('flow/older') }
  const targets: Target[] = []
  for (const { name, asks } of servers) {
    if (asks === undefined) continue
    const [program, load] = asks
    targets.push({ name, load: loads[load], server: await startServer(program), call: firstCall })
  }
  return targets
}

function startLoad(name: string): Promise<Load> {
  return startProgram(name, 1)
}

async function measureAll(
  targets: readonly Target[],
  timing: { readonly rounds: number; readonly seconds: number; readonly warmUp: number },
): Promise<readonly Round<number>[]> {
  const measure = async ({ load, server, call }: Target, seconds: number): Promise<number> =>
    (await measureCalls(load, server, { call, connections: 16, seconds, unit: 'cpu' })).cpu
  try {
    for (const target of targets) await measure(target, timing.warmUp)
    return await measureRounds(targets, timing.rounds, (target) => measure(target, timing.seconds))
  } finally {
    const loads = new Set(targets.map(({ load }) => load))
    await Promise.all([...loads, ...targets.map(({ server }) => server)].map((child) => child.stop()))
  }
}

function sharesIn(rounds: readonly Round<number>[], name: string): readonly number[] | undefined {
  return rounds.every((round) => round.has(name)) ? sharesOf(rounds, { name, base, of: (cpu) => cpu }) : undefined
}

function figureOf(rounds: readonly Round<number>[], name: string): Figure | null {
  const shares = sharesIn(rounds, name)
  if (shares === undefined) return null
  const [middle, from, to] = [median(shares), Math.min(...shares), Math.max(...shares)]
  return { median: inThreeDigits(middle), from: inThreeDigits(from), to: inThreeDigits(to) }
}

function inThreeDigits(value: number): number {
  return Number(value.toPrecision(3))
}

function cell(rounds: readonly Round<number>[], name: string): string {
  const shares = sharesIn(rounds, name)
  return shares === undefined ? '–' : `${rangeText(shares)}, ${medianOf(rounds, name, (cpu) => cpu).toFixed(0)} us`
}

import { mkdir, writeFile } from 'node:fs/promises'
import { medianOf, measureRounds, type Round, sharesOf } from '../alternating-rounds.ts'
import { print } from '../benchmark.ts'
import { median } from '../median.ts'
import { pinning } from '../pinned-process.ts'
import { drawBarChart } from './bar-chart.ts'
import { askingServers } from './servers.ts'
import { startAsks, startCalls, type Target } from './targets.ts'

const base = 'by hand'
const chartFile = new URL('../../../../docs/charts/servers.svg', import.meta.url)

/**
 * Compares the CPU of a call, and of a call that asks its user twice, of several servers with that of the hand-written
 * one, and draws the chart of `docs/performance.md`.
 *
 * Method: as for `peers` and `rounds`. Servers take turns within a round, and ratios are formed within a round. A call
 * that asks is three POSTs in each revision, and the figure is of one of them.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const timing = quick ? { rounds: 3, seconds: 0.15, warmUp: 3 } : { rounds: 9, seconds: 0.3, warmUp: 5 }
  const calls = await measureAll(await startCalls(), timing)
  const asks = await measureAll(await startAsks(), timing)
  print(`CPU in multiples of the hand-written server, Node ${process.version}; ${pinning}; 16 connections`)
  print(`medians of ${timing.rounds} rounds of ${timing.seconds} s of CPU, and their range`)
  for (const { name } of askingServers) print(`| ${name} | ${cell(calls, name)} | ${cell(asks, name)} |`)
  const valueOf = (rounds: readonly Round<number>[], name: string): number | undefined => {
    const shares = sharesIn(rounds, name)
    return shares && median(shares)
  }
  await mkdir(new URL('./', chartFile), { recursive: true })
  const rows = askingServers.map(({ name }) => ({ name, values: [valueOf(calls, name), valueOf(asks, name)] as const }))
  const title = 'CPU of a server, in multiples of a hand-written one'
  await writeFile(chartFile, drawBarChart({ title, bars: ['a call', 'a POST of a call that asks twice'], rows }))
}

interface Timing {
  readonly rounds: number
  readonly seconds: number
  readonly warmUp: number
}

async function measureAll(targets: readonly Target[], timing: Timing): Promise<readonly Round<number>[]> {
  try {
    for (const target of targets) await measureOne(target, timing.warmUp)
    return await measureRounds(targets, timing.rounds, (target) => measureOne(target, timing.seconds))
  } finally {
    await Promise.all(targets.map(({ stop }) => stop()))
    await Promise.all([...new Set(targets.map(({ load }) => load))].map((load) => load.stop()))
  }
}

/** Returns the microseconds of CPU for a POST, in slices until the server has used some seconds of CPU. */
async function measureOne({ name, load, url, call, cpu }: Target, seconds: number): Promise<number> {
  const before = await cpu()
  let requests = 0
  for (;;) {
    const { requests: more, failures } = await load.ask({ url, call, connections: 16, seconds: 0.25 })
    if (failures > 0) throw new Error(`${failures} requests to ${name} failed: the measurement is invalid`)
    requests += more
    const used = (await cpu()) - before
    if (used >= seconds * 1e6) return used / requests
  }
}

function sharesIn(rounds: readonly Round<number>[], name: string): readonly number[] | undefined {
  return rounds.every((round) => round.has(name)) ? sharesOf(rounds, { name, base, of: (cpu) => cpu }) : undefined
}

function cell(rounds: readonly Round<number>[], name: string): string {
  const shares = sharesIn(rounds, name)
  if (shares === undefined) return '–'
  const range = `${Math.min(...shares).toFixed(2)} to ${Math.max(...shares).toFixed(2)}`
  return `${median(shares).toFixed(2)} (${range}), ${medianOf(rounds, name, (cpu) => cpu).toFixed(0)} us`
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cpuMillisecondsOf, type Started, startServer, stopServer } from '../cold/start-server.ts'
import { print } from '../benchmark.ts'
import type { LoadAnswer, LoadQuestion } from '../http/load.ts'
import { type PinnedProcess, pinning, pinProcess, startPinned } from '../pinned-process.ts'
import { measureRounds } from '../alternating-rounds.ts'
import { type InstalledProgram, installPrograms } from './install-programs.ts'
import { callOfRevision } from './programs.ts'
import { type CpuRounds, peerRows } from './report.ts'

type Load = PinnedProcess<LoadQuestion, LoadAnswer>

interface Timing {
  readonly starts: number
  readonly rounds: number
  readonly seconds: number
  readonly warmUp: number
}

/**
 * Compares other implementations with ours and with a bare `node:http` server: the size of an install, the CPU from the
 * start of a process to its first response, and the CPU of a call over 16 connections.
 *
 * Method: each is installed with npm into an empty folder, and written as its documentation shows. The servers
 * alternate within a round, and ratios to the floor are formed within a round. Not measured: sessions, other tools,
 * other runtimes.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const timing = quick
    ? { starts: 5, rounds: 3, seconds: 1, warmUp: 3 }
    : { starts: 7, rounds: 5, seconds: 1, warmUp: 4 }
  const folder = await mkdtemp(join(tmpdir(), 'peers-'))
  try {
    const programs = await installPrograms(folder)
    const starts = await measureStarts(programs, timing)
    const calls = await measureCalls(programs, timing)
    print(`an HTTP server with one tool, Node ${process.version}; ${pinning}; CPU in multiples of the floor's`)
    print(`${timing.starts} starts, and ${timing.rounds} rounds of ${timing.seconds} s with 16 connections; medians`)
    peerRows(programs, { starts, calls }).forEach(print)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function measureStarts(programs: readonly InstalledProgram[], { starts }: Timing): Promise<CpuRounds> {
  const startOnce = async ({ program, name }: InstalledProgram): Promise<number> => {
    const { child, start } = await startServer(program)
    await stopServer(child)
    return requireCpu(start.cpuMilliseconds, name)
  }
  // The first round fills the file caches.
  return (await measureRounds(programs, starts + 1, startOnce)).slice(1)
}

interface RunningProgram extends InstalledProgram, Started {}

async function measureCalls(programs: readonly InstalledProgram[], timing: Timing): Promise<CpuRounds> {
  const load: Load = await startPinned('http/load.js', 1)
  const running: RunningProgram[] = []
  try {
    for (const installed of programs) {
      const started = await startServer(installed.program)
      running.push({ ...installed, ...started })
      pinProcess(started.child.pid, 0)
    }
    for (const server of running) await measureCall(load, server, timing.warmUp)
    return await measureRounds(running, timing.rounds, (server) => measureCall(load, server, timing.seconds))
  } finally {
    await Promise.all([load.stop(), ...running.map(({ child }) => stopServer(child))])
  }
}

/** Returns the milliseconds of CPU that the process of a server uses per call. */
async function measureCall(load: Load, server: RunningProgram, seconds: number): Promise<number> {
  const { name, child, url, revision } = server
  const before = requireCpu(await cpuMillisecondsOf(child.pid), name)
  const { requests, failures } = await load.ask({ url, call: callOfRevision(revision), connections: 16, seconds })
  const after = requireCpu(await cpuMillisecondsOf(child.pid), name)
  if (failures > 0) throw new Error(`${failures} requests to the ${name} server failed: the measurement is invalid`)
  return (after - before) / requests
}

function requireCpu(cpuMilliseconds: number | undefined, name: string): number {
  if (cpuMilliseconds === undefined)
    throw new Error(`the system does not report the CPU of ${name}: run the benchmark on Linux`)
  return cpuMilliseconds
}

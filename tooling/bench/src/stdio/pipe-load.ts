import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { body, expectedText } from '../http/call.ts'
import type { Timing } from '../benchmark.ts'
import { median } from '../median.ts'

/** A server behind a pair of pipes. This process sends its load. */
export interface PipedServer {
  readonly name: string
  /** Keeps a number of calls in flight for some seconds of the clock or of the server's CPU. */
  load(inFlight: number, seconds: number, unit: Timing['unit']): Promise<PipeMeasurement>
  stop(): Promise<void>
}

/** The measurement of a server under load. */
export interface PipeMeasurement {
  readonly perSecond: number
  /** Microseconds of CPU in the server's process. */
  readonly cpuPerCall: number
  /** The median time from a call to its response, with one call in flight. NaN for more. */
  readonly medianMicroseconds: number
}

interface Pipes {
  readonly stdin: Writable
  readonly stdout: Readable
}

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

/** States in the header of a report whether each process runs on one core. */
export const pipePinning = canPin
  ? 'server on core 0, load on core 1'
  : 'not pinned: taskset or a second core is missing'

/** Starts a built server of this package, and pins it to another core than this process. */
export async function startPiped(name: string, program: string): Promise<PipedServer> {
  const path = fileURLToPath(new URL(program, import.meta.url))
  const child = spawn(process.execPath, ['--conditions=dist', path], { stdio: ['pipe', 'pipe', 'inherit', 'ipc'] })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error(`${name} has no pipes`)
  pin(child.pid, 0)
  pin(process.pid, 1)
  return {
    name,
    load: async (inFlight, seconds, unit) => {
      const before = await cpuOf(child)
      const started = performance.now()
      let calls = 0
      for (;;) {
        const sliced = await runLoad({ stdin, stdout }, inFlight, unit === 'cpu' ? slice : seconds)
        calls += sliced.calls
        const elapsed = (performance.now() - started) / 1000
        const cpu = (await cpuOf(child)) - before
        const { medianMicroseconds } = sliced
        if (unit !== 'cpu' || cpu >= seconds * 1e6)
          return { perSecond: calls / elapsed, cpuPerCall: cpu / calls, medianMicroseconds }
      }
    },
    stop: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

function pin(pid: number | undefined, core: 0 | 1): void {
  if (canPin) spawnSync('taskset', ['--all-tasks', '--pid', '--cpu-list', String(core), String(pid)])
}

async function cpuOf(child: ChildProcess): Promise<number> {
  child.send('cpu')
  const [microseconds] = await once(child, 'message')
  return Number(microseconds)
}

/** The seconds of one load when the server's CPU limits the measurement. */
const slice = 0.25

const [head, tail] = body.split('"id":1')
const newline = 0x0a

interface LoadResult {
  readonly calls: number
  readonly medianMicroseconds: number
}

/** Sends calls until the time ends, and resolves after the last response. */
function runLoad({ stdin, stdout }: Pipes, inFlight: number, seconds: number): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const end = performance.now() + seconds * 1000
    const times: number[] = []
    let sentCalls = 0
    let answeredCalls = 0
    let sentAt = 0
    const sendCalls = (count: number): void => {
      let lines = ''
      for (let more = 0; more < count; more++) lines += `${head}"id":${++sentCalls}${tail}\n`
      sentAt = performance.now()
      stdin.write(lines)
    }
    const onData = (chunk: Buffer): void => {
      const now = performance.now()
      let count = 0
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) count += 1
      if (answeredCalls === 0 && !chunk.includes(expectedText)) return reject(new Error(`no echo: ${chunk.toString()}`))
      if (chunk.includes('"error"')) return reject(new Error(`an answer is an error: ${chunk.toString()}`))
      answeredCalls += count
      if (inFlight === 1) times.push((now - sentAt) * 1000)
      if (now < end) sendCalls(count)
      else if (answeredCalls === sentCalls) {
        stdout.off('data', onData)
        resolve({ calls: answeredCalls, medianMicroseconds: times.length === 0 ? Number.NaN : median(times) })
      }
    }
    stdout.on('data', onData)
    sendCalls(inFlight)
  })
}

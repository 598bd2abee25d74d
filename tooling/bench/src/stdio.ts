import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { type Column, median } from './alternating.ts'
import { echoAnswer, echoCall, expectedText } from './calls.ts'
import type { LoadTime } from './load.ts'
import { pinning, pinProcess, type Programs, stopProcess } from './processes.ts'
import {
  compareTargets,
  type CpuMeasurement,
  cpuColumn,
  type RatioBenchmark,
  type Reading,
  runBenchmarks,
  selectRows,
} from './ratios.ts'

interface PipeMeasurement extends CpuMeasurement {
  readonly perSecond: number
  /** The median time from a call to its response, with one call in flight. NaN for more. */
  readonly medianMicroseconds: number
}

const rateColumn: Column<PipeMeasurement> = { unit: '/s', of: ({ perSecond }) => perSecond, digits: 0 }
const p50Column: Column<PipeMeasurement> = { unit: 'us p50', of: (one) => one.medianMicroseconds, digits: 0 }

const rows = [
  { id: 'stdio/p50', inFlight: 1, column: p50Column },
  { id: 'stdio/64', inFlight: 64, column: rateColumn },
] as const

interface PipedServer {
  readonly name: string
  readonly child: ChildProcess
  readonly stdin: Writable
  readonly stdout: Readable
}

/**
 * Compares a server over stdio with a bare process that splits lines, parses each, and answers a fixed text of the same
 * size, all of a chunk in one write. It checks nothing.
 *
 * Method: the call of `http` over the pipes of a child process, with 1 call and with 64 in flight. This process is the
 * load. Servers alternate within a round. An answer that is an error ends the run. Not measured: the client, large
 * messages, notifications, the start of a process.
 */
export const stdioBenchmark: RatioBenchmark = {
  ids: rows.map(({ id }) => id),
  async measure(options) {
    const { unit, warmUp } = options.timing
    const servers: PipedServer[] = []
    pinProcess(process.pid, 1)
    try {
      for (const name of ['floor', 'ours']) servers.push(startPiped(name))
      for (const server of servers) await measureLoad(server, 64, { seconds: warmUp, unit })
      const readings: Reading[] = []
      for (const { inFlight, ...row } of selectRows(rows, options)) {
        const title = `tools/call of an echo tool over pipes, ${inFlight} in flight; ${pinning}`
        const measure = (server: PipedServer, seconds: number) => measureLoad(server, inFlight, { seconds, unit })
        const columns = inFlight === 1 ? ([p50Column, cpuColumn] as const) : ([rateColumn, cpuColumn] as const)
        readings.push(
          ...(await compareTargets({ title, targets: servers, rows: [row], columns: [...columns], measure }, options)),
        )
      }
      return readings
    } finally {
      for (const { child } of servers) await stopProcess(child)
    }
  },
}

/** Runs the benchmark and prints its report. */
export function run(options: { readonly quick: boolean }): Promise<void> {
  return runBenchmarks([stdioBenchmark], options)
}

/** The servers. They report their CPU over the IPC channel. */
export const programs: Programs = {
  floor: () => {
    reportCpu()
    let rest = ''
    process.stdin.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      let answers = ''
      for (const line of lines) {
        JSON.parse(line)
        answers += `${echoAnswer}\n`
      }
      if (answers !== '') process.stdout.write(answers)
    })
    process.stdin.on('end', () => process.exit())
  },
  ours: async () => {
    reportCpu()
    const { serveStdio } = await import('@x/transport-stdio')
    const { toolsServer } = await import('./our-servers.ts')
    serveStdio(toolsServer(1))
  },
}

function reportCpu(): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  })
}

function startPiped(name: string): PipedServer {
  const main = fileURLToPath(new URL('main.js', import.meta.url))
  const node = ['--conditions=dist', main, '--program', `stdio/${name}`]
  const child = spawn(process.execPath, node, { stdio: ['pipe', 'pipe', 'inherit', 'ipc'] })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error(`${name} has no pipes`)
  pinProcess(child.pid, 0)
  return { name, child, stdin, stdout }
}

async function cpuOf(child: ChildProcess): Promise<number> {
  child.send('cpu')
  const [microseconds] = await once(child, 'message')
  return Number(microseconds)
}

/** Keeps a number of calls in flight for some seconds of the clock or of the server's CPU. */
async function measureLoad(
  server: PipedServer,
  inFlight: number,
  { seconds, unit }: LoadTime,
): Promise<PipeMeasurement> {
  const before = await cpuOf(server.child)
  const started = performance.now()
  let calls = 0
  for (;;) {
    const slice = await sendCalls(server, inFlight, unit === 'cpu' ? 0.25 : seconds)
    calls += slice.calls
    const elapsed = (performance.now() - started) / 1000
    const cpu = (await cpuOf(server.child)) - before
    const { medianMicroseconds } = slice
    if (unit !== 'cpu' || cpu >= seconds * 1e6)
      return { perSecond: calls / elapsed, cpu: cpu / calls, medianMicroseconds }
  }
}

const [head, tail] = echoCall.body.split('"id":1')
const newline = 0x0a

interface Slice {
  readonly calls: number
  readonly medianMicroseconds: number
}

/** Sends calls until the time ends, and resolves after the last response. */
function sendCalls({ stdin, stdout }: PipedServer, inFlight: number, seconds: number): Promise<Slice> {
  return new Promise((resolve, reject) => {
    const end = performance.now() + seconds * 1000
    const times: number[] = []
    let sentCalls = 0
    let answeredCalls = 0
    let sentAt = 0
    const send = (count: number): void => {
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
      if (now < end) send(count)
      else if (answeredCalls === sentCalls) {
        stdout.off('data', onData)
        resolve({ calls: answeredCalls, medianMicroseconds: times.length === 0 ? Number.NaN : median(times) })
      }
    }
    stdout.on('data', onData)
    send(inFlight)
  })
}

import { type Column, median } from './alternating.ts'
import { echoCall, expectedText } from './calls.ts'
import { measureSlices, rateColumn } from './load.ts'
import { echoAnswer } from './peers/bare-server.ts'
import { reportUsage } from './peers/serve-measured.ts'
import { type MeasuredServer, pinning, pinProcess, type Programs, startServer, stopAll } from './processes.ts'
import {
  cpuColumn,
  type CpuMeasurement,
  type Pass,
  type RatioBenchmark,
  ratioBenchmark,
  type RatioId,
} from './ratios.ts'

/** The calls of a slice over pipes. */
interface Slice {
  readonly requests: number
  readonly perSecond: number
  /** The median time from a call to its response, with one call in flight. NaN for more. */
  readonly medianMicroseconds: number
}

type Measurement = Slice & CpuMeasurement
type PipedServer = MeasuredServer & { readonly name: string }

const p50Column: Column<Measurement> = { unit: 'us p50', of: (one) => one.medianMicroseconds, digits: 0 }

/**
 * Compares a server over stdio with a bare process that splits lines, parses each, and answers a fixed text of the same
 * size, all of a chunk in one write. It checks nothing.
 *
 * Method: the call of `http` over the pipes of a child process, with 1 call and with 64 in flight. This process is the
 * load. Servers alternate within a round. An answer that is an error ends the run. Not measured: the client, large
 * messages, notifications, the start of a process.
 */
export const ratios: readonly RatioBenchmark[] = [
  ratioBenchmark({
    targets: ['floor', 'ours'].map((name) => ({ name, start: () => startPiped(name) })),
    passes: [passOf('stdio/p50', 1, p50Column), passOf('stdio/64', 64, rateColumn)],
    warm: passOf('stdio/64', 64, rateColumn).measure,
    stop: stopAll,
  }),
]

async function startPiped(name: string): Promise<PipedServer> {
  pinProcess(process.pid, 1)
  return { ...(await startServer(`stdio/${name}`, { hasPipes: true })), name }
}

function passOf(id: RatioId, inFlight: number, column: Column<Measurement>): Pass<PipedServer, Measurement> {
  return {
    title: `tools/call of an echo tool over pipes, ${inFlight} in flight; ${pinning}`,
    rows: [{ id }],
    columns: [column, cpuColumn],
    measure: (server, time) => measureSlices(server.cpu, time, (seconds) => sendCalls(server, inFlight, seconds)),
  }
}

/** The servers. They report their CPU over the IPC channel. */
export const programs: Programs = {
  floor: () => {
    reportUsage('')
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
  },
  ours: async () => {
    reportUsage('')
    const { serveStdio } = await import('@x/transport-stdio')
    const { toolsServer } = await import('./our-servers.ts')
    serveStdio(toolsServer(1))
  },
}

const [head, tail] = echoCall.body.split('"id":1')
const newline = 0x0a

/** Keeps a number of calls in flight until the time ends, and resolves after the last response. */
function sendCalls({ child: { stdin, stdout } }: PipedServer, inFlight: number, seconds: number): Promise<Slice> {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    const end = started + seconds * 1000
    const times: number[] = []
    let sentCalls = 0
    let answeredCalls = 0
    let sentAt = 0
    const send = (count: number): void => {
      let lines = ''
      for (let more = 0; more < count; more++) lines += `${head}"id":${++sentCalls}${tail}\n`
      sentAt = performance.now()
      stdin?.write(lines)
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
        stdout?.off('data', onData)
        const perSecond = (answeredCalls * 1000) / (now - started)
        resolve({ requests: answeredCalls, perSecond, medianMicroseconds: inFlight === 1 ? median(times) : Number.NaN })
      }
    }
    stdout?.on('data', onData)
    send(inFlight)
  })
}

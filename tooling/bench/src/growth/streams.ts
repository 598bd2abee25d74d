import { median } from '../median.ts'
import { type PinnedProcess, startPinned } from '../pinned-process.ts'
import type { ServerAnswer, ServerQuestion } from '../subscriptions/answer-questions.ts'
import type { ListenersAnswer, ListenersQuestion } from '../subscriptions/listeners.ts'
import type { Chart } from './chart.ts'

type Listeners = PinnedProcess<ListenersQuestion, ListenersAnswer>
type Server = PinnedProcess<ServerQuestion, ServerAnswer>

const sizes = [1, 10, 100, 1000, 10_000]

/** Measures the CPU of one change that all open streams of a server receive, by the number of streams. */
export async function measureStreams(rounds: number): Promise<Chart> {
  const millisecondsOf = (program: string): Promise<readonly number[]> => measureServer(program, rounds)
  return {
    title: 'CPU of one change in ms, by open streams',
    sizes: sizes.map((size) => size.toLocaleString('en')),
    logarithmic: true,
    lines: [
      { name: 'these packages', values: await millisecondsOf('subscriptions/our-server.js') },
      { name: 'bare node:http', values: await millisecondsOf('subscriptions/floor-server.js') },
    ],
  }
}

async function measureServer(program: string, rounds: number): Promise<readonly number[]> {
  const listeners: Listeners = await startPinned('subscriptions/listeners.js', 1)
  const server: Server = await startPinned(program, 0)
  try {
    const { url } = await server.ask({ ask: 'url' })
    // Compiles code before the first measurement.
    await measureChanges({ listeners, server, url }, 300, 30)
    const values: number[] = []
    for (const size of sizes) values.push(await measureChanges({ listeners, server, url }, size, rounds))
    return values
  } finally {
    await Promise.all([listeners.stop(), server.stop()])
  }
}

interface Setup {
  readonly listeners: Listeners
  readonly server: Server
  readonly url: string
}

/** Opens streams, and returns the milliseconds of CPU of one change to all of them. */
async function measureChanges({ listeners, server, url }: Setup, streams: number, rounds: number): Promise<number> {
  await askListeners(listeners, { ask: 'open', url, streams })
  const values: number[] = []
  for (let changes = 1; changes <= rounds; changes += 1) {
    const before = await server.ask({ ask: 'cpu' })
    const arrived = askListeners(listeners, { ask: 'await', url, changes })
    await server.ask({ ask: 'change' })
    await arrived
    const after = await server.ask({ ask: 'cpu' })
    values.push((after.cpuMicroseconds - before.cpuMicroseconds) / 1000)
  }
  await askListeners(listeners, { ask: 'close', url })
  // This question takes some tenths of a second, in which the server receives the ends of the connections.
  await server.ask({ ask: 'memory' })
  return median(values)
}

async function askListeners(listeners: Listeners, question: ListenersQuestion): Promise<void> {
  const { failure } = await listeners.ask(question)
  if (failure !== undefined) throw new Error(`${question.ask} failed: ${failure}`)
}

import { type PinnedProcess, pinning, startPinned } from './pinned-process.ts'
import type { ServerAnswer, ServerQuestion } from './subscriptions/answer-questions.ts'
import type { ListenersAnswer, ListenersQuestion } from './subscriptions/listeners.ts'
import { reportLines, type StreamMeasurement } from './subscriptions/report.ts'

type Listeners = PinnedProcess<ListenersQuestion, ListenersAnswer>
type Server = PinnedProcess<ServerQuestion, ServerAnswer>

/** A server whose streams are all open. */
interface Target {
  readonly name: string
  readonly url: string
  readonly server: Server
  readonly heapBytes: number
  readonly residentBytes: number
  /** The number of changes that every stream has received. */
  changes: number
  readonly milliseconds: number[]
  readonly cpuMicroseconds: number[]
}

interface Plan {
  readonly listeners: Listeners
  readonly streams: number
}

/**
 * Measures the memory of 2,000 open streams in one instance, and the time until the last client receives one change.
 *
 * Method: the streams are open over HTTP, each on its own connection. One server is ours, the other is a bare
 * `node:http` server that writes events of the same size. Each server is a process on core 0, and all clients are one
 * process on core 1. Memory is read after four full collections: first after some streams were opened and closed, then
 * with all streams open. After that the servers alternate in notifying all their streams of one change. Not measured:
 * TLS, slow readers, a bus between instances, and the memory of the kernel.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const [streams, rounds, warmUp] = quick ? [500, 5, 3] : [2000, 31, 10]
  const listeners: Listeners = await startPinned('subscriptions/listeners.js', 1)
  const plan: Plan = { listeners, streams }
  const targets: Target[] = []
  try {
    for (const name of ['floor', 'our']) targets.push(await openTarget(name, plan))
    for (let round = 0; round < warmUp + rounds; round += 1) {
      const order = round % 2 === 0 ? targets : targets.toReversed()
      for (const target of order) await changeOnce(target, plan, round >= warmUp)
    }
  } finally {
    await Promise.all([listeners, ...targets.map(({ server }) => server)].map((child) => child.stop()))
  }
  const lines = reportLines(targets satisfies readonly StreamMeasurement[])
  const header = `${streams} open streams over HTTP, Node ${process.version}; ${pinning}; ${rounds} changes; medians`
  process.stdout.write(`${[header, ...lines].join('\n')}\n`)
}

async function openTarget(name: string, plan: Plan): Promise<Target> {
  const { listeners, streams } = plan
  const server: Server = await startPinned(`subscriptions/${name}-server.js`, 0)
  const { url } = await server.ask({ ask: 'url' })
  // Compiles code and fills caches before the first measurement.
  await askListeners(listeners, { ask: 'open', url, streams: 300 })
  await askListeners(listeners, { ask: 'close', url })
  const before = await server.ask({ ask: 'memory' })
  await askListeners(listeners, { ask: 'open', url, streams })
  const after = await server.ask({ ask: 'memory' })
  return {
    name,
    url,
    server,
    heapBytes: (after.heapBytes - before.heapBytes) / streams,
    residentBytes: (after.residentBytes - before.residentBytes) / streams,
    changes: 0,
    milliseconds: [],
    cpuMicroseconds: [],
  }
}

/** Notifies all streams of a change, and waits until the last client has received it. */
async function changeOnce(target: Target, { listeners, streams }: Plan, counts: boolean): Promise<void> {
  const { server, url } = target
  target.changes += 1
  const before = await server.ask({ ask: 'cpu' })
  const start = performance.now()
  const arrived = askListeners(listeners, { ask: 'await', url, changes: target.changes })
  await server.ask({ ask: 'change' })
  await arrived
  const milliseconds = performance.now() - start
  const after = await server.ask({ ask: 'cpu' })
  if (!counts) return
  target.milliseconds.push(milliseconds)
  target.cpuMicroseconds.push((after.cpuMicroseconds - before.cpuMicroseconds) / streams)
}

async function askListeners(listeners: Listeners, question: ListenersQuestion): Promise<void> {
  const { failure } = await listeners.ask(question)
  if (failure !== undefined) throw new Error(`${question.ask} failed, so the measurement is invalid: ${failure}`)
}

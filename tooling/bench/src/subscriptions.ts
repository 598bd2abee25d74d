import { type PinnedProcess, pinning, startPinned } from './pinned-process.ts'
import type { ServerAnswer, ServerQuestion } from './subscriptions/answer-questions.ts'
import type { ListenersAnswer, ListenersQuestion } from './subscriptions/listeners.ts'
import { reportLines, type StreamMeasurement } from './subscriptions/report.ts'

type Listeners = PinnedProcess<ListenersQuestion, ListenersAnswer>
type Server = PinnedProcess<ServerQuestion, ServerAnswer>

/** A server with all its streams open. */
interface Target {
  readonly name: string
  readonly url: string
  readonly server: Server
  readonly heapBytes: number
  readonly residentBytes: number
  /** How many changes every stream has. */
  changes: number
  readonly milliseconds: number[]
  readonly cpuMicroseconds: number[]
}

interface Plan {
  readonly listeners: Listeners
  readonly streams: number
}

/**
 * What 2,000 open streams take of one instance, and how long one change to all of them takes until the last client has
 * it.
 *
 * Method: the streams are open over HTTP, each on a connection of its own, at our server and at a bare `node:http`
 * server that writes events of the same size; each server is a process on core 0, all clients are one process on core
 * 1. Memory is read after four full collections, before the streams are opened, behind some that were opened and
 * closed, and when all are open. Then the servers take turns at telling all their streams of one change. Not measured:
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
  const head = `${streams} open streams over HTTP, Node ${process.version}; ${pinning}; ${rounds} changes; medians`
  process.stdout.write(`${[head, ...lines].join('\n')}\n`)
}

async function openTarget(name: string, plan: Plan): Promise<Target> {
  const { listeners, streams } = plan
  const server: Server = await startPinned(`subscriptions/${name}-server.js`, 0)
  const { url } = await server.ask({ ask: 'url' })
  // Code is compiled and caches are filled before anything is read.
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

/** Tells all streams of a change, and waits until the last client has it. */
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
  if (failure !== undefined)
    throw new Error(`${question.ask} failed, so that the numbers would mean nothing: ${failure}`)
}

import { median } from './alternating.ts'
import { callOf } from './calls.ts'
import { type HttpConnection, openConnection } from './connection.ts'
import { answerQuestions } from './peers/serve-measured.ts'
import { type MeasuredServer, type Program, type Programs, startProgram, startServer } from './processes.ts'

type Listeners = Program<ListenersQuestion, object>

/**
 * Measures the median CPU of one change that all open streams receive, for each number of them, and the memory of a
 * stream of the last size. Each stream is a connection of its own, and all clients are one process on core 1. Memory is
 * read after four full collections: after some streams were opened and closed, and with all open.
 */
export async function measureStreams(
  program: string,
  sizes: readonly number[],
  rounds: number,
): Promise<{ changes: readonly number[]; heapBytes: number; residentBytes: number }> {
  await using listeners: Listeners = await startProgram('streams/listeners', { core: 1 })
  await using server = await startServer(program)
  const changes: number[] = []
  let cost = { heapBytes: 0, residentBytes: 0 }
  let before = await server.ask('idle memory')
  // The first size compiles code.
  for (const [index, streams] of [300, ...sizes].entries()) {
    await listeners.ask({ ask: 'open', url: server.url, streams })
    const after = await server.ask('memory')
    cost = {
      heapBytes: (after.heapBytes - before.heapBytes) / streams,
      residentBytes: (after.residentBytes - before.residentBytes) / streams,
    }
    const values = await changeOften(listeners, server, index === 0 ? 30 : rounds)
    if (index > 0) changes.push(median(values))
    await listeners.ask({ ask: 'close' })
    before = await server.ask('idle memory')
  }
  return { changes, ...cost }
}

/** Notifies all streams of changes, waits each time for the last client, and returns the microseconds of CPU. */
async function changeOften(listeners: Listeners, server: MeasuredServer, count: number): Promise<readonly number[]> {
  const values: number[] = []
  for (let changes = 1; changes <= count; changes += 1) {
    const before = await server.cpu()
    const arrived = listeners.ask({ ask: 'await', changes })
    await server.ask('change')
    await arrived
    values.push((await server.cpu()) - before)
  }
  return values
}

/** A question of the benchmark to the clients. */
type ListenersQuestion =
  /** Opens a number of streams. The answer follows when all are acknowledged. */
  | { readonly ask: 'open'; readonly url: string; readonly streams: number }
  /** Waits until every stream has received a number of changes. */
  | { readonly ask: 'await'; readonly changes: number }
  | { readonly ask: 'close' }

/** The clients. A stream that ends ends their process, and so the run. */
export const programs: Programs = {
  listeners: () => answerQuestions((question: ListenersQuestion) => listen(question).then(() => ({}))),
}

let connections: HttpConnection[] = []
/** The number of streams that have received an acknowledgement, at 0, and a change, at its number. */
let received: number[] = []
/** Checks the pending wait after each message. */
let check = (): void => {}

/** The number of streams to open concurrently. It is below the backlog of a server, which is not measured. */
const atOnce = 50

async function listen(question: ListenersQuestion): Promise<void> {
  if (question.ask === 'await') return waitForAll(question.changes)
  if (question.ask === 'close') {
    for (const connection of connections) connection.close()
    connections = []
    received = []
    return
  }
  while (connections.length < question.streams) {
    const count = Math.min(atOnce, question.streams - connections.length)
    for (let index = 0; index < count; index += 1) openStream(question.url)
    await waitForAll(0)
  }
}

/** Waits until every stream has received a message. */
function waitForAll(message: number): Promise<void> {
  return new Promise((resolve) => {
    check = () => received[message] === connections.length && resolve()
    check()
  })
}

const { headers, body } = callOf('subscriptions/listen', { notifications: { toolsListChanged: true } }, '')

function openStream(url: string): void {
  const connection = openConnection(url, headers)
  connections.push(connection)
  let messages = 0
  const onEvent = (): void => {
    received[messages] = (received[messages] ?? 0) + 1
    messages += 1
    check()
  }
  const ended = connection.send({ body: body.replace('"id":1', `"id":${connections.length}`), onEvent })
  void ended.then(({ head }) => {
    throw new Error(`a stream has ended: ${head}`)
  })
}

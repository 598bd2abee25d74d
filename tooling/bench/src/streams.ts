import { Agent, type ClientRequest, request } from 'node:http'
import { median } from './alternating.ts'
import { callOf } from './calls.ts'
import {
  answerQuestions,
  type MeasuredServer,
  type Program,
  type Programs,
  startProgram,
  startServer,
} from './processes.ts'

type Listeners = Program<ListenersQuestion, object>

/** The cost of streams of a server. */
export interface StreamCost {
  /** The median of the microseconds of CPU of one change, for each number of streams. */
  readonly changes: readonly number[]
  /** Bytes of a stream, of those of the last size. */
  readonly heapBytes: number
  readonly residentBytes: number
}

/**
 * Measures the CPU of one change that all open streams receive, for each number of them, and the memory of a stream.
 * Each stream is a connection of its own, and all clients are one process on core 1. Memory is read after four full
 * collections: after some streams were opened and closed, and with all open. A stream that is lost ends the run.
 */
export async function measureStreams(program: string, sizes: readonly number[], rounds: number): Promise<StreamCost> {
  const listeners: Listeners = await startProgram('streams/listeners', 1)
  const server = await startServer(program)
  const { url } = server
  try {
    const changes: number[] = []
    let cost = { heapBytes: 0, residentBytes: 0 }
    let before = await server.ask('idle memory')
    // The first size compiles code.
    for (const [index, streams] of [300, ...sizes].entries()) {
      await listeners.ask({ ask: 'open', url, streams })
      const after = await server.ask('memory')
      cost = {
        heapBytes: (after.heapBytes - before.heapBytes) / streams,
        residentBytes: (after.residentBytes - before.residentBytes) / streams,
      }
      const values = await changeOften(listeners, server, index === 0 ? 30 : rounds)
      if (index > 0) changes.push(median(values))
      await listeners.ask({ ask: 'close', url })
      before = await server.ask('idle memory')
    }
    return { changes, ...cost }
  } finally {
    await Promise.all([listeners.stop(), server.stop()])
  }
}

/** Notifies all streams of changes, waits each time for the last client, and returns the microseconds of CPU. */
async function changeOften(listeners: Listeners, server: MeasuredServer, count: number): Promise<readonly number[]> {
  const values: number[] = []
  for (let changes = 1; changes <= count; changes += 1) {
    const before = await server.cpu()
    const arrived = listeners.ask({ ask: 'await', url: server.url, changes })
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
  /** Waits until every stream of this server has received a number of changes. */
  | { readonly ask: 'await'; readonly url: string; readonly changes: number }
  | { readonly ask: 'close'; readonly url: string }

/** The clients. A failure ends their process, and so the run. */
export const programs: Programs = {
  listeners: () =>
    answerQuestions(async (question: ListenersQuestion) => {
      await listen(question)
      return {}
    }),
}

/** The streams of one server. */
interface OpenStreams {
  readonly requests: ClientRequest[]
  /** The number of streams that have received a change, by the number of the change. The first change is 1. */
  readonly receivedCounts: number[]
  acknowledged: number
  /** Checks the pending wait after each message. */
  check: () => void
}

/** The number of streams to open concurrently. It is below the backlog of a server, which is not measured. */
const atOnce = 50
const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY })
const byUrl = new Map<string, OpenStreams>()

async function listen(question: ListenersQuestion): Promise<void> {
  const { url } = question
  const opened = byUrl.get(url) ?? { requests: [], receivedCounts: [], acknowledged: 0, check: () => {} }
  byUrl.set(url, opened)
  if (question.ask === 'await')
    return waitUntil(opened, () => (opened.receivedCounts[question.changes] ?? 0) === opened.requests.length)
  if (question.ask === 'close') {
    byUrl.delete(url)
    for (const one of opened.requests) one.destroy()
    return
  }
  while (opened.requests.length < question.streams) {
    const count = Math.min(atOnce, question.streams - opened.requests.length)
    for (let index = 0; index < count; index += 1) openOne(opened, url)
    await waitUntil(opened, () => opened.acknowledged === opened.requests.length)
  }
}

function waitUntil(opened: OpenStreams, isReached: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    opened.check = () => isReached() && resolve()
    opened.check()
  })
}

const acknowledgedMark = 'subscriptions/acknowledged'
const changedMark = 'tools/list_changed'
const { headers, body } = callOf('subscriptions/listen', { notifications: { toolsListChanged: true } }, '')

function openOne(opened: OpenStreams, url: string): void {
  const own = body.replace('"id":1', `"id":${opened.requests.length + 1}`)
  const fail = (reason: unknown): void => {
    if (byUrl.get(url) === opened) throw new Error(`a stream was lost: ${String(reason)}`)
  }
  const one = request(url, { method: 'POST', agent, headers: { ...headers, 'content-length': own.length } })
  one.on('response', (response) => {
    if (response.statusCode !== 200) fail(`status ${response.statusCode}`)
    let changes = 0
    findMarks(response.setEncoding('utf8'), (mark) => {
      if (mark === acknowledgedMark) opened.acknowledged += 1
      else {
        changes += 1
        opened.receivedCounts[changes] = (opened.receivedCounts[changes] ?? 0) + 1
      }
      opened.check()
    })
    response.on('close', () => fail('it was closed'))
    response.on('error', fail)
  })
  one.on('error', fail)
  opened.requests.push(one)
  one.end(own)
}

const marks = new RegExp(`${acknowledgedMark}|${changedMark}`, 'g')
const longest = Math.max(acknowledgedMark.length, changedMark.length)

/** Finds each mark once in a text that arrives in chunks. */
function findMarks(text: NodeJS.ReadableStream, found: (mark: string) => void): void {
  let rest = ''
  text.on('data', (piece: string) => {
    const whole = rest + piece
    let end = 0
    for (const match of whole.matchAll(marks)) {
      end = match.index + match[0].length
      found(match[0])
    }
    rest = whole.slice(Math.max(end, whole.length - longest + 1))
  })
}

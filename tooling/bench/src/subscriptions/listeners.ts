import { Agent, type ClientRequest, request } from 'node:http'
import { acknowledgedMark, bodyOf, changedMark, headers } from './request.ts'

/** A question of the benchmark to the clients. */
export type ListenersQuestion =
  /** Opens a number of streams. The answer follows when all are acknowledged. */
  | { readonly ask: 'open'; readonly url: string; readonly streams: number }
  /** Waits until every stream of this server has received a number of changes. */
  | { readonly ask: 'await'; readonly url: string; readonly changes: number }
  | { readonly ask: 'close'; readonly url: string }

/** The answer of the clients. */
export interface ListenersAnswer {
  /** The reason for an invalid measurement. */
  readonly failure?: string | undefined
}

/** The streams of one server. */
interface OpenStreams {
  readonly requests: ClientRequest[]
  /** The number of streams that have received a change, by the number of the change. The first change is 1. */
  readonly receivedCounts: number[]
  acknowledged: number
  /** Checks the pending wait after each message, and rejects it with the reason of a failure. */
  check: (failure?: string) => void
}

/** The number of streams to open concurrently. It is below the backlog of a server, which is not measured. */
const atOnce = 50
const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY })
const byUrl = new Map<string, OpenStreams>()

process.once('disconnect', () => process.exit())
process.on('message', (question: ListenersQuestion) => {
  void answer(question).then(
    () => process.send?.({}),
    (error: unknown) => process.send?.({ failure: String(error) }),
  )
})

async function answer(question: ListenersQuestion): Promise<void> {
  const { url } = question
  const opened = byUrl.get(url) ?? { requests: [], receivedCounts: [], acknowledged: 0, check: () => {} }
  byUrl.set(url, opened)
  if (question.ask === 'open') return open(opened, url, question.streams)
  if (question.ask === 'await') {
    return waitUntil(opened, () => (opened.receivedCounts[question.changes] ?? 0) === opened.requests.length)
  }
  byUrl.delete(url)
  for (const one of opened.requests) one.destroy()
}

async function open(opened: OpenStreams, url: string, streams: number): Promise<void> {
  while (opened.requests.length < streams) {
    for (let count = 0; count < atOnce && opened.requests.length < streams; count += 1) openOne(opened, url)
    await waitUntil(opened, () => opened.acknowledged === opened.requests.length)
  }
}

function waitUntil(opened: OpenStreams, isReached: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    opened.check = (failure) => {
      if (failure !== undefined) reject(new Error(failure))
      else if (isReached()) resolve()
    }
    opened.check()
  })
}

function openOne(opened: OpenStreams, url: string): void {
  const body = bodyOf(opened.requests.length + 1)
  const fail = (reason: unknown): void => {
    if (byUrl.get(url) === opened) opened.check(`a stream was lost: ${String(reason)}`)
  }
  const one = request(url, { method: 'POST', agent, headers: { ...headers, 'content-length': body.length } })
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
  one.end(body)
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

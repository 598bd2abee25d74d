import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Attack } from '../attack.ts'
import type { Message } from '../requests.ts'
import { type Attacker, waitUntil } from './attacker.ts'
import { waitUntilStable } from './byte-attacks.ts'
import { fromCaller, newCaller } from './callers.ts'
import { quota, waiting } from './endpoints.ts'

const mebibyte = 1024 * 1024
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const revision = '2025-11-25'

/** A session of a client of an older revision. */
interface OlderSession {
  /** Creates a request of the session. */
  readonly request: (method: string, params: object) => Message
  /** Creates the response to a question of the server. */
  readonly answer: (id: unknown, result: object) => Message
  /** Cancels all previous requests. */
  readonly cancelAll: () => Promise<void>
}

interface OlderCounts {
  readonly waiting: number
  readonly polls: number
}

const capabilities = { elicitation: { form: {}, url: {} } }
const message = (body: object, more: Message['headers'] = {}): Message => ({
  body: JSON.stringify({ jsonrpc: '2.0', ...body }),
  headers: { ...headers, ...more },
})

async function connect(peer: Attacker, caller: string): Promise<OlderSession> {
  const params = { protocolVersion: revision, capabilities, clientInfo: { name: 'adversary', version: '1.0.0' } }
  const response = await peer.stream(
    fromCaller(caller, message({ id: 0, method: 'initialize', params })),
    peer.urls.older,
  )
  const id = response.headers['mcp-session-id']
  response.resume()
  if (typeof id !== 'string') throw new Error(`initialize returned status ${response.statusCode} without a session`)
  const session = { 'mcp-session-id': id, 'mcp-protocol-version': revision }
  let lastId = 0
  return {
    request: (method, more) => fromCaller(caller, message({ id: (lastId += 1), method, params: more }, session)),
    answer: (question, result) => fromCaller(caller, message({ id: question, result }, session)),
    cancelAll: async () => {
      for (let requestId = 1; requestId <= lastId; requestId += 1) {
        const cancellation = { method: 'notifications/cancelled', params: { requestId } }
        await peer.send(fromCaller(caller, message(cancellation, session)), peer.urls.older)
      }
    },
  }
}

const callAsk = (session: OlderSession, text: string): Message =>
  session.request('tools/call', { name: 'ask', arguments: { text } })

/** Calls a tool that asks a question, and disconnects after the first bytes of the response. */
async function abandon(peer: Attacker, call: Message): Promise<number> {
  const response = await peer.stream(call, peer.urls.older)
  // The call waits when its question has arrived.
  if (response.statusCode === 200) await once(response, 'data')
  response.destroy()
  return response.statusCode ?? 0
}

/** Calls a tool that asks the user to visit a page, and answers that the user has opened it. */
async function openPage(peer: Attacker, session: OlderSession): Promise<number> {
  const call = session.request('tools/call', { name: 'visit', arguments: {} })
  const response = await peer.stream(call, peer.urls.older)
  if (response.statusCode === 200) {
    const question = await readQuestion(response)
    const answered = await peer.stream(session.answer(question, { action: 'accept' }), peer.urls.older)
    answered.resume()
  }
  return response.statusCode ?? 0
}

/** Returns the id of the question in a stream. */
async function readQuestion(response: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const part of response.setEncoding('utf8')) {
    text += part
    const id = /"id":("[^"]+"|\d+),"method":"elicitation\/create"/.exec(text)?.[1]
    if (id !== undefined) return JSON.parse(id)
  }
  throw new Error(`the stream has no question: ${text.slice(0, 300)}`)
}

/** Checks that an honest older client receives a question, and can answer it. */
async function expectServed(peer: Attacker): Promise<void> {
  const session = await connect(peer, newCaller())
  const call = await peer.stream(callAsk(session, 'x'), peer.urls.older)
  if (call.statusCode !== 200) throw new Error(`the call of an honest older client returned status ${call.statusCode}`)
  const question = await readQuestion(call)
  const { statusCode } = await peer.stream(
    session.answer(question, { action: 'accept', content: { name: 'Ada' } }),
    peer.urls.older,
  )
  if (statusCode !== 202) throw new Error(`the answer of an honest older client returned status ${statusCode}`)
}

function expectBounded(statuses: readonly number[], max: number): void {
  const accepted = statuses.filter((status) => status === 200).length
  const rejected = statuses.filter((status) => status === 429).length
  if (accepted > 0 && accepted <= max && rejected === statuses.length - accepted && rejected > 0) return
  throw new Error(`${accepted} calls wait, the limit is ${max}, and ${rejected} of ${statuses.length} returned 429`)
}

const countsOf = (peer: Attacker): Promise<OlderCounts> => peer.target.ask<OlderCounts>('olderCounts')

/** Cancels the calls of sessions, and waits until no call waits at the server. */
async function endCalls(peer: Attacker, sessions: readonly OlderSession[]): Promise<void> {
  for (const { cancelAll } of sessions) await cancelAll()
  await waitUntil('the abandoned calls still wait', async () => (await countsOf(peer)).waiting === 0)
}

/** Attacks by clients of older revisions with waiting calls. */
export const olderAttacks: readonly Attack<Attacker>[] = [
  {
    name: 'abandoned-calls-of-a-megabyte',
    run: async (peer, scale) => {
      const before = (await peer.target.memory()).bytes
      const eve = await connect(peer, newCaller())
      const statuses: number[] = []
      for (let count = 0; count < 8 * scale; count += 1)
        statuses.push(await abandon(peer, callAsk(eve, 'x'.repeat(mebibyte))))
      expectBounded(statuses, waiting.bytes / mebibyte)
      await waitUntilStable(peer, before, 2 * waiting.bytes)
      await expectServed(peer)
      await endCalls(peer, [eve])
    },
  },
  {
    name: 'abandoned-calls-of-many-sessions',
    run: async (peer, scale) => {
      const eve = newCaller()
      const statuses: number[] = []
      const sessions = await Promise.all([eve, eve, eve].map((caller) => connect(peer, caller)))
      for (const session of sessions)
        for (let count = 0; count < 10 * scale; count += 1) statuses.push(await abandon(peer, callAsk(session, 'x')))
      expectBounded(statuses, waiting.calls)
      await expectServed(peer)
      await endCalls(peer, sessions)
    },
  },
  {
    // The server polls a page that the user has opened, so its call counts as running.
    name: 'pages-that-are-polled',
    run: async (peer, scale) => {
      const eve = await connect(peer, newCaller())
      const [{ polls }, started] = [await countsOf(peer), performance.now()]
      const statuses: number[] = []
      for (let count = 0; count < 5 * quota * scale; count += 1) statuses.push(await openPage(peer, eve))
      expectBounded(statuses, quota)
      await expectServed(peer)
      await endCalls(peer, [eve])
      const seconds = (performance.now() - started) / 1000
      // Each call polls about twice per second.
      const polled = (await countsOf(peer)).polls - polls
      if (polled > 4 * quota * (seconds + 2)) throw new Error(`pages were polled ${polled} times`)
    },
  },
  {
    name: 'made-up-event-ids',
    run: async (peer, scale) => {
      const eve = await connect(peer, newCaller())
      for (let count = 0; count < 100 * scale; count += 1) {
        const { body, headers: sent } = eve.request('ping', {})
        const response = await peer.stream(
          { body, headers: { ...sent, 'last-event-id': `made-up-${count}` } },
          peer.urls.older,
        )
        response.resume()
        await once(response, 'end')
      }
      await expectServed(peer)
    },
  },
]

import { isJsonObject, type JsonObject, metaKeys } from '@x/schema'
import type { Attack } from '../attack.ts'
import { callOf, type Message, request } from '../requests.ts'
import { type Attacker, type Reply, waitUntil } from './attacker.ts'
import { expectQuotaError, expectResult, fromCaller, newCaller, startRequest } from './callers.ts'
import { quota, storeSize } from './endpoints.ts'

/** A resource with a limit per caller. */
interface Quota {
  readonly name: string
  /** The name of the limit in the error. */
  readonly limit: string
  readonly max: number
  /** The number of successful acquisitions by one caller. Default: `max`. */
  readonly times?: number
  /** Acquires one, and leaves streams open. */
  readonly acquire: (peer: Attacker, caller: string) => Promise<Reply>
}

const withProgress = { _meta: { progressToken: 1 } }
const withTasks = {
  _meta: { [metaKeys.clientCapabilities]: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
}
const yes = { sure: { action: 'accept', content: { sure: true } } }
/** A wrong answer. The same one twice would not be asked again. */
const guessOf = (sure: string) => ({ action: 'accept', content: { sure } })
const twoDays = 48 * 60 * 60 * 1000

const listen = (filter: object): Message => request('subscriptions/listen', { notifications: filter })
const atQuotas =
  (message: Message): Quota['acquire'] =>
  (peer, caller) =>
    startRequest(peer, fromCaller(caller, message), peer.urls.quotas)

const quotas: readonly Quota[] = [
  { name: 'calls', limit: 'calls', max: quota, acquire: atQuotas(callOf('wait', {}, withProgress)) },
  { name: 'streams', limit: 'streams', max: quota, acquire: atQuotas(listen({ toolsListChanged: true })) },
  { name: 'tasks', limit: 'tasks', max: quota, acquire: atQuotas(callOf('work', {}, withTasks)) },
  { name: 'sessions', limit: 'states', max: quota, acquire: atQuotas(request('sessions/create')) },
  { name: 'suspended-states', limit: 'states', max: quota, acquire: atQuotas(callOf('hold', {})) },
  {
    name: 'session-resources',
    limit: 'session_resources',
    max: quota,
    acquire: async (peer, caller) => {
      const { sessions } = peer.urls
      const { body } = await peer.send(fromCaller(caller, request('sessions/create')), sessions)
      const session = isJsonObject(body['result']) ? body['result']['session'] : undefined
      return peer.send(
        fromCaller(caller, callOf('open', {}, { _meta: { 'io.modelcontextprotocol/session': session } })),
        sessions,
      )
    },
  },
  {
    name: 'single-uses',
    limit: 'states',
    max: storeSize,
    acquire: async (peer, caller) => {
      const { once } = peer.urls
      const requestState = await askedState(peer, fromCaller(caller, callOf('remove', {})), once)
      const inputResponses = { sure: { action: 'accept', content: { sure: false } } }
      return peer.send(fromCaller(caller, callOf('remove', {}, { requestState, inputResponses })), once)
    },
  },
]

/** Attacks by one caller that exhausts its quota. Other callers must still be served. */
export const quotaAttacks: readonly Attack<Attacker>[] = [
  ...quotas.map(
    ({ name, ...rest }): Attack<Attacker> => ({ name, run: (peer) => exhaustQuota(peer, { name, ...rest }) }),
  ),
  {
    // A new task evicts ended tasks: first those of the same caller, then those of the caller with the most tasks.
    name: 'quick-tasks',
    run: async (peer, scale) => {
      const work = async (caller: string): Promise<void> => {
        const message = fromCaller(caller, callOf('work', {}, withTasks))
        await waitUntil(
          'the server accepts no new task',
          async () => (await startRequest(peer, message, peer.urls.working)).status === 200,
        )
      }
      const [eve, mallory, ada] = [newCaller(), newCaller(), newCaller()]
      for (let count = 0; count < 5 * quota * scale; count += 1) {
        await work(eve)
        await work(mallory)
      }
      for (let count = 0; count < quota; count += 1) await work(ada)
      await peer.target.ask('skip', { ms: twoDays })
    },
  },
  {
    name: 'one-state-ten-times',
    run: async (peer) => {
      const { busy } = peer.urls
      const [eve, ada] = [newCaller(), newCaller()]
      const resumed = async (caller: string): Promise<() => Promise<Reply>> => {
        const requestState = await askedState(peer, fromCaller(caller, callOf('hold', {})), busy)
        const message = callOf('hold', {}, { requestState, inputResponses: yes, ...withProgress })
        return () => startRequest(peer, fromCaller(caller, message), busy)
      }
      const [own, other] = [await resumed(eve), await resumed(ada)]
      const replies = await Promise.all(Array.from({ length: 10 }, own))
      const rejected = replies.filter(({ status }) => status === 503)
      if (rejected.length !== 10 - quota) throw new Error(`${rejected.length} of 10 calls were rejected`)
      expectResult(await other())
      expectResult(await peer.send(fromCaller(ada, callOf('echo', { text: 'x' })), busy))
    },
  },
  {
    name: 'guesses-with-earlier-states',
    run: async (peer) => {
      const { once } = peer.urls
      const caller = newCaller()
      const inputResponses = { sure: guessOf('a'), 'sure~2': guessOf('b'), 'sure~3': guessOf('c') }
      const states = [await askedState(peer, fromCaller(caller, callOf('remove', {})), once)]
      let accepted = 0
      for (let guess = 0; guess < 20; guess += 1) {
        const requestState = states[guess % states.length]
        const { body } = await peer.send(
          fromCaller(caller, callOf('remove', {}, { requestState, inputResponses })),
          once,
        )
        const next = stateOf(body)
        if (next !== undefined) states.push(next)
        if (next !== undefined || JSON.stringify(body).includes('\\"sure\\"')) accepted += 1
      }
      if (accepted !== 3) throw new Error(`${accepted} of 20 guesses were read; the limit is 3`)
      await peer.target.ask('skip', { ms: twoDays })
    },
  },
]

/** Acquires more than the limit of one caller, and checks that another caller still gets one. */
async function exhaustQuota(peer: Attacker, row: Quota): Promise<void> {
  const { max, times = max, acquire } = row
  const [eve, ada] = [newCaller(), newCaller()]
  for (let count = 0; count < times; count += 1) expectResult(await acquire(peer, eve))
  for (let count = 0; count < 20; count += 1) expectQuotaError(await acquire(peer, eve), row)
  expectResult(await acquire(peer, ada))
  // Empties the stores for the next attack.
  await peer.target.ask('closeEditors')
  await peer.target.ask('skip', { ms: twoDays })
}

async function askedState(peer: Attacker, message: Message, url: string): Promise<string> {
  const { body } = await peer.send(message, url)
  const state = stateOf(body)
  if (state !== undefined) return state
  throw new Error(`the response has no requestState: ${JSON.stringify(body).slice(0, 300)}`)
}

function stateOf({ result }: JsonObject): string | undefined {
  const state = isJsonObject(result) ? result['requestState'] : undefined
  return typeof state === 'string' ? state : undefined
}

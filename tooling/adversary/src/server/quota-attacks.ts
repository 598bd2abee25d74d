import { isJsonObject, type JsonObject, metaKeys } from '@x/schema'
import type { Attack } from '../attack.ts'
import { callOf, type Message, request } from '../requests.ts'
import { type Attacker, type Reply, until } from './attacker.ts'
import { begin, by, newCaller, quotaReached, taken } from './callers.ts'
import { quota, storeSize } from './endpoints.ts'

/** One thing of which each caller may have so much. */
interface Quota {
  readonly name: string
  /** The option that the error names. */
  readonly limit: string
  readonly max: number
  /** The number of times that a caller may take it. Default: `max`. */
  readonly times?: number
  /** Takes one, and leaves what streams open. */
  readonly take: (peer: Attacker, caller: string) => Promise<Reply>
}

const withProgress = { _meta: { progressToken: 1 } }
const withTasks = {
  _meta: { [metaKeys.clientCapabilities]: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
}
const yes = { sure: { action: 'accept', content: { sure: true } } }
const wrong = { action: 'accept', content: { sure: 'perhaps' } }
const twoDays = 48 * 60 * 60 * 1000

const listen = (filter: object): Message => request('subscriptions/listen', { notifications: filter })
const atQuotas =
  (message: Message): Quota['take'] =>
  (peer, caller) =>
    begin(peer, by(caller, message), peer.urls.quotas)

const quotas: readonly Quota[] = [
  { name: 'calls', limit: 'calls', max: quota, take: atQuotas(callOf('wait', {}, withProgress)) },
  { name: 'streams', limit: 'streams', max: quota, take: atQuotas(listen({ toolsListChanged: true })) },
  { name: 'tasks', limit: 'tasks', max: quota, take: atQuotas(callOf('work', {}, withTasks)) },
  { name: 'sessions', limit: 'states', max: quota, take: atQuotas(request('sessions/create')) },
  { name: 'suspended-states', limit: 'states', max: quota, take: atQuotas(callOf('hold', {})) },
  {
    name: 'session-resources',
    limit: 'session_resources',
    max: quota,
    take: async (peer, caller) => {
      const { sessions } = peer.urls
      const { body } = await peer.send(by(caller, request('sessions/create')), sessions)
      const session = isJsonObject(body['result']) ? body['result']['session'] : undefined
      return peer.send(
        by(caller, callOf('open', {}, { _meta: { 'io.modelcontextprotocol/session': session } })),
        sessions,
      )
    },
  },
  {
    name: 'single-uses',
    limit: 'states',
    max: storeSize,
    take: async (peer, caller) => {
      const { once } = peer.urls
      const requestState = await askedState(peer, by(caller, callOf('remove', {})), once)
      const inputResponses = { sure: { action: 'accept', content: { sure: false } } }
      return peer.send(by(caller, callOf('remove', {}, { requestState, inputResponses })), once)
    },
  },
]

/** Attacks by one caller who takes all that there is, beside others who want some of it. */
export const quotaAttacks: readonly Attack<Attacker>[] = [
  ...quotas.map(({ name, ...rest }): Attack<Attacker> => ({ name, run: (peer) => exhaust(peer, { name, ...rest }) })),
  {
    // Tasks that have ended give way, first those of the caller itself and then those of the caller with the most.
    name: 'quick-tasks',
    run: async (peer, scale) => {
      const work = async (caller: string): Promise<void> => {
        const message = by(caller, callOf('work', {}, withTasks))
        await until('room for a task', async () => (await begin(peer, message, peer.urls.working)).status === 200)
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
        const requestState = await askedState(peer, by(caller, callOf('hold', {})), busy)
        const message = callOf('hold', {}, { requestState, inputResponses: yes, ...withProgress })
        return () => begin(peer, by(caller, message), busy)
      }
      const [own, other] = [await resumed(eve), await resumed(ada)]
      const replies = await Promise.all(Array.from({ length: 10 }, own))
      const refused = replies.filter(({ status }) => status === 503)
      if (refused.length !== 10 - quota) throw new Error(`${refused.length} of 10 calls were rejected`)
      taken(await other())
      taken(await peer.send(by(ada, callOf('echo', { text: 'x' })), busy))
    },
  },
  {
    name: 'guesses-with-earlier-states',
    run: async (peer) => {
      const { once } = peer.urls
      const caller = newCaller()
      const inputResponses = { sure: wrong, 'sure~2': wrong, 'sure~3': wrong }
      const states = [await askedState(peer, by(caller, callOf('remove', {})), once)]
      let accepted = 0
      for (let guess = 0; guess < 20; guess += 1) {
        const requestState = states[guess % states.length]
        const { body } = await peer.send(by(caller, callOf('remove', {}, { requestState, inputResponses })), once)
        const next = stateOf(body)
        if (next !== undefined) states.push(next)
        if (next !== undefined || JSON.stringify(body).includes('\\"sure\\"')) accepted += 1
      }
      if (accepted !== 3) throw new Error(`${accepted} of 20 guesses were read, 3 are wanted`)
      await peer.target.ask('skip', { ms: twoDays })
    },
  },
]

/** Takes as much as one caller may have, and then some; another caller still gets one. */
async function exhaust(peer: Attacker, row: Quota): Promise<void> {
  const { max, times = max, take } = row
  const [eve, ada] = [newCaller(), newCaller()]
  for (let count = 0; count < times; count += 1) taken(await take(peer, eve))
  for (let count = 0; count < 20; count += 1) quotaReached(await take(peer, eve), row)
  taken(await take(peer, ada))
  // The stores are empty again for the next attack.
  await peer.target.ask('closeEditors')
  await peer.target.ask('skip', { ms: twoDays })
}

async function askedState(peer: Attacker, message: Message, url: string): Promise<string> {
  const { body } = await peer.send(message, url)
  const state = stateOf(body)
  if (state !== undefined) return state
  throw new Error(`no requestState came: ${JSON.stringify(body).slice(0, 300)}`)
}

function stateOf({ result }: JsonObject): string | undefined {
  const state = isJsonObject(result) ? result['requestState'] : undefined
  return typeof state === 'string' ? state : undefined
}

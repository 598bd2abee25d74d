import { isJsonObject, type JsonObject } from '@x/schema'
import type { Attack } from '../attack.ts'
import { callOf, request } from '../requests.ts'
import type { Attacker, Reply } from './attacker.ts'
import { storeSize } from './endpoints.ts'

const sessionKey = 'io.modelcontextprotocol/session'
const sessionNotFound = -32043
const no = { sure: { action: 'accept', content: { sure: false } } }
const yes = { sure: { action: 'accept', content: { sure: true } } }

/** Attacks on what a server believes of what it gave to a client, and on the stores that it keeps. */
export const stateAttacks: readonly Attack<Attacker>[] = [
  {
    name: 'unasked-answers',
    run: async (peer) => {
      for (const capabilities of [{}, { elicitation: {} }]) {
        const _meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities }
        await peer.send(callOf('remove', {}, { inputResponses: yes, _meta }))
        await deletedNothing(peer)
      }
    },
  },
  ...Object.entries(forgeries()).map(
    ([name, forge]): Attack<Attacker> => ({ name: `forged-state-${name}`, run: (peer) => rejectForged(peer, forge) }),
  ),
  {
    name: 'state-of-another-service',
    run: async (peer) => {
      const requestState = await askedState(peer, peer.urls.neighbor)
      rejected(await peer.send(callOf('remove', {}, { requestState, inputResponses: yes })))
      await deletedNothing(peer)
    },
  },
  {
    name: 'replayed-state',
    run: async (peer) => {
      const retry = callOf(
        'remove',
        {},
        {
          requestState: await askedState(peer, peer.urls.once),
          inputResponses: no,
        },
      )
      accepted(await peer.send(retry, peer.urls.once))
      rejected(await peer.send(retry, peer.urls.once))
    },
  },
  {
    name: 'legacy-task-member',
    run: async (peer) => {
      const first = await peer.send(callOf('remove', {}, { task: { ttl: 1000 } }))
      accepted(await peer.send(callOf('remove', {}, { requestState: stateIn(first), inputResponses: no })))
    },
  },
  {
    name: 'session-state-reset',
    run: async (peer) => {
      const session = await createSession(peer, peer.urls.sessions)
      const { sessionId } = session
      const text = textOf(accepted(await peer.send(within(session, 'account'), peer.urls.sessions)))
      if (!text.includes('trial')) throw new Error(`the session began as ${text}, and not as onCreate said`)
      rejected(await peer.send(within({ sessionId }, 'account'), peer.urls.sessions), sessionNotFound)
    },
  },
  {
    name: 'state-of-another-session',
    run: async (peer) => {
      const [one, other] = [await counted(peer), await counted(peer)]
      const mixed = { ...one, state: other['state'] }
      rejected(await peer.send(within(mixed, 'count'), peer.urls.stored), sessionNotFound)
    },
  },
  { name: 'uses-fill-the-store', run: fillUses },
  {
    name: 'session-states-fill-the-store',
    run: async (peer) => {
      let session = await createSession(peer, peer.urls.stored)
      for (let count = 0; count < storeSize * 2; count += 1) {
        session = sessionOf(accepted(await peer.send(within(session, 'count'), peer.urls.stored)))
      }
    },
  },
]

/** Uses are remembered until their tokens end, and no longer: the store is free again once they have. */
async function fillUses(peer: Attacker): Promise<void> {
  const spend = async (): Promise<Reply> => {
    const requestState = await askedState(peer, peer.urls.once)
    return peer.send(callOf('remove', {}, { requestState, inputResponses: no }), peer.urls.once)
  }
  // From an empty store on, whatever was spent before.
  await peer.target.ask('skip', { ms: 48 * 60 * 60 * 1000 })
  for (let count = 0; count < storeSize; count += 1) accepted(await spend())
  rejected(await spend())
  // The 30 s beside a token's life are for clocks that differ.
  await peer.target.ask('skip', { ms: 100_000 })
  accepted(await spend())
}

/** Ways to make a state that the server did not seal for the request. */
function forgeries(): Readonly<Record<string, (state: string) => string>> {
  return {
    empty: () => '',
    random: () => 'A'.repeat(200),
    'of-a-megabyte': () => 'A'.repeat(1_000_000),
    flipped: (state) => `${state.slice(0, -5)}${state.at(-5) === 'A' ? 'B' : 'A'}${state.slice(-4)}`,
    truncated: (state) => state.slice(0, -8),
    lengthened: (state) => `${state}AAAA`,
    padded: (state) => `${state}=`,
    doubled: (state) => state + state,
    'of-another-algorithm': (state) => `eyJhbGciOiJub25lIn0.${state}`,
  }
}

async function rejectForged(peer: Attacker, forge: (state: string) => string): Promise<void> {
  const requestState = forge(await askedState(peer, peer.urls.shop))
  rejected(await peer.send(callOf('remove', {}, { requestState, inputResponses: yes })))
  // The state of one call is not that of another: of other arguments, or of another tool.
  const real = await askedState(peer, peer.urls.shop)
  rejected(await peer.send(callOf('remove', { folder: 'other' }, { requestState: real, inputResponses: yes })))
  rejected(await peer.send(callOf('ask', {}, { requestState: real, inputResponses: yes })))
  await deletedNothing(peer)
}

async function askedState(peer: Attacker, url: string): Promise<string> {
  return stateIn(await peer.send(callOf('remove', {}), url))
}

function stateIn(reply: Reply): string {
  const { requestState } = accepted(reply)
  if (typeof requestState !== 'string')
    throw new Error(`no requestState came: ${JSON.stringify(reply.body).slice(0, 300)}`)
  return requestState
}

async function createSession(peer: Attacker, url: string): Promise<JsonObject> {
  const { session } = accepted(await peer.send(request('sessions/create'), url))
  return isJsonObject(session) ? session : {}
}

/** A session that has counted once, so that it has a state. */
async function counted(peer: Attacker): Promise<JsonObject> {
  const session = await createSession(peer, peer.urls.stored)
  return sessionOf(accepted(await peer.send(within(session, 'count'), peer.urls.stored)))
}

function within(session: JsonObject, tool: string): ReturnType<typeof callOf> {
  return callOf(tool, {}, { _meta: { [sessionKey]: session } })
}

function sessionOf({ _meta }: JsonObject): JsonObject {
  const session = isJsonObject(_meta) ? _meta[sessionKey] : undefined
  return isJsonObject(session) ? session : {}
}

function accepted({ body, status }: Reply): JsonObject {
  const { result } = body
  if (isJsonObject(result) && result['isError'] !== true) return result
  throw new Error(`a valid request was rejected, with status ${status}: ${JSON.stringify(body).slice(0, 300)}`)
}

function rejected({ body, status }: Reply, code?: number): void {
  const { error } = body
  if (isJsonObject(error) && (code === undefined || error['code'] === code)) return
  throw new Error(`an error ${code ?? ''} is wanted, status ${status} came: ${JSON.stringify(body).slice(0, 300)}`)
}

async function deletedNothing(peer: Attacker): Promise<void> {
  const deleted = await peer.target.ask<number>('deleted')
  if (deleted > 0) throw new Error('everything was deleted, and no user was asked')
}

function textOf({ content }: JsonObject): string {
  return JSON.stringify(content)
}

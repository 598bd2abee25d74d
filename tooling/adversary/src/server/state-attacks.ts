import { isJsonObject, type JsonObject } from '@x/schema'
import type { Attack } from '../attack.ts'
import { callOf, request } from '../requests.ts'
import type { Attacker, Reply } from './attacker.ts'
import { storeSize } from './endpoints.ts'

const sessionKey = 'io.modelcontextprotocol/session'
const sessionNotFound = -32043
const no = { sure: { action: 'accept', content: { sure: false } } }
const yes = { sure: { action: 'accept', content: { sure: true } } }

/** Attacks on the state that a server sends to a client, and on its stores of state. */
export const stateAttacks: readonly Attack<Attacker>[] = [
  {
    name: 'unasked-answers',
    run: async (peer) => {
      for (const capabilities of [{}, { elicitation: {} }]) {
        const _meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities }
        await peer.send(callOf('remove', {}, { inputResponses: yes, _meta }))
        await expectNothingDeleted(peer)
      }
    },
  },
  ...Object.entries(forgeries()).map(
    ([name, forge]): Attack<Attacker> => ({ name: `forged-state-${name}`, run: (peer) => rejectForged(peer, forge) }),
  ),
  {
    name: 'state-of-another-service',
    run: async (peer) => {
      const requestState = await requestStateOf(peer, peer.urls.neighbor)
      expectError(await peer.send(callOf('remove', {}, { requestState, inputResponses: yes })))
      await expectNothingDeleted(peer)
    },
  },
  {
    name: 'replayed-state',
    run: async (peer) => {
      const retry = callOf(
        'remove',
        {},
        {
          requestState: await requestStateOf(peer, peer.urls.once),
          inputResponses: no,
        },
      )
      expectResult(await peer.send(retry, peer.urls.once))
      expectError(await peer.send(retry, peer.urls.once))
    },
  },
  {
    name: 'legacy-task-member',
    run: async (peer) => {
      const first = await peer.send(callOf('remove', {}, { task: { ttl: 1000 } }))
      expectResult(await peer.send(callOf('remove', {}, { requestState: stateIn(first), inputResponses: no })))
    },
  },
  {
    name: 'session-state-reset',
    run: async (peer) => {
      const session = await createSession(peer, peer.urls.sessions)
      const { sessionId } = session
      const text = textOf(expectResult(await peer.send(callInSession(session, 'account'), peer.urls.sessions)))
      if (!text.includes('trial')) throw new Error(`the session started as ${text}, not with the state of onCreate`)
      expectError(await peer.send(callInSession({ sessionId }, 'account'), peer.urls.sessions), sessionNotFound)
    },
  },
  {
    name: 'state-of-another-session',
    run: async (peer) => {
      const [one, other] = [await createCountedSession(peer), await createCountedSession(peer)]
      const mixed = { ...one, state: other['state'] }
      expectError(await peer.send(callInSession(mixed, 'count'), peer.urls.stored), sessionNotFound)
    },
  },
  { name: 'uses-fill-the-store', run: fillUses },
  {
    name: 'session-states-fill-the-store',
    run: async (peer) => {
      let session = await createSession(peer, peer.urls.stored)
      for (let count = 0; count < storeSize * 2; count += 1) {
        session = sessionOf(expectResult(await peer.send(callInSession(session, 'count'), peer.urls.stored)))
      }
    },
  },
]

/** Checks that the store of uses is full at its limit, and is free again after the tokens have expired. */
async function fillUses(peer: Attacker): Promise<void> {
  const useOnce = async (): Promise<Reply> => {
    const requestState = await requestStateOf(peer, peer.urls.once)
    return peer.send(callOf('remove', {}, { requestState, inputResponses: no }), peer.urls.once)
  }
  // Starts with an empty store.
  await peer.target.ask('skip', { ms: 48 * 60 * 60 * 1000 })
  for (let count = 0; count < storeSize; count += 1) expectResult(await useOnce())
  expectError(await useOnce())
  // The store keeps a use 30 s longer than the lifetime of its token, because clocks may differ.
  await peer.target.ask('skip', { ms: 100_000 })
  expectResult(await useOnce())
}

/** Returns functions that forge a state from a valid one. */
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
  const requestState = forge(await requestStateOf(peer, peer.urls.shop))
  expectError(await peer.send(callOf('remove', {}, { requestState, inputResponses: yes })))
  // A state is bound to the arguments and the tool of its call.
  const real = await requestStateOf(peer, peer.urls.shop)
  expectError(await peer.send(callOf('remove', { folder: 'other' }, { requestState: real, inputResponses: yes })))
  expectError(await peer.send(callOf('ask', {}, { requestState: real, inputResponses: yes })))
  await expectNothingDeleted(peer)
}

async function requestStateOf(peer: Attacker, url: string): Promise<string> {
  return stateIn(await peer.send(callOf('remove', {}), url))
}

function stateIn(reply: Reply): string {
  const { requestState } = expectResult(reply)
  if (typeof requestState !== 'string')
    throw new Error(`the response has no requestState: ${JSON.stringify(reply.body).slice(0, 300)}`)
  return requestState
}

async function createSession(peer: Attacker, url: string): Promise<JsonObject> {
  const { session } = expectResult(await peer.send(request('sessions/create'), url))
  return isJsonObject(session) ? session : {}
}

/** Creates a session with one createCountedSession call, so that it has a state. */
async function createCountedSession(peer: Attacker): Promise<JsonObject> {
  const session = await createSession(peer, peer.urls.stored)
  return sessionOf(expectResult(await peer.send(callInSession(session, 'count'), peer.urls.stored)))
}

function callInSession(session: JsonObject, tool: string): ReturnType<typeof callOf> {
  return callOf(tool, {}, { _meta: { [sessionKey]: session } })
}

function sessionOf({ _meta }: JsonObject): JsonObject {
  const session = isJsonObject(_meta) ? _meta[sessionKey] : undefined
  return isJsonObject(session) ? session : {}
}

function expectResult({ body, status }: Reply): JsonObject {
  const { result } = body
  if (isJsonObject(result) && result['isError'] !== true) return result
  throw new Error(`a valid request was rejected, with status ${status}: ${JSON.stringify(body).slice(0, 300)}`)
}

function expectError({ body, status }: Reply, code?: number): void {
  const { error } = body
  if (isJsonObject(error) && (code === undefined || error['code'] === code)) return
  throw new Error(`expected an error ${code ?? ''}, received status ${status}: ${JSON.stringify(body).slice(0, 300)}`)
}

async function expectNothingDeleted(peer: Attacker): Promise<void> {
  const deleted = await peer.target.ask<number>('deleted')
  if (deleted > 0) throw new Error('everything was deleted without a question to the user')
}

function textOf({ content }: JsonObject): string {
  return JSON.stringify(content)
}

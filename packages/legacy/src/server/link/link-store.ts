import { parseJsonObject, randomId } from '@x/core'
import type { JsonObject, JsonValue, LoggingLevel, RpcResponse } from '@x/schema'
import type { StateStore } from '@x/state-codec'
import { decodeWaitingCall, encodeWaitingCall, type WaitingCall } from '../question-state.ts'

/** A question of a stored call. */
export interface StoredQuestion {
  readonly key: string
  readonly id: string
  readonly method: string
  readonly params: JsonObject | undefined
  /** The number of its event. */
  readonly number: number
}

/** A call that waits for answers, as every instance finds it. */
export interface StoredCall {
  readonly waitingCall: WaitingCall
  /** The key of its session. */
  readonly session: string
  /** Identifies the round, whose answers one instance may use. */
  readonly round: string
  readonly questions: readonly StoredQuestion[]
  /** Milliseconds since 1970. */
  readonly askedAt: number
}

/** The response of a call whose stream may still be resumed. */
export interface StoredResponse {
  readonly session: string
  /** The number of the event. */
  readonly number: number
  readonly text: string
}

/** The part of a session that its requests have set. */
export interface StoredSession {
  readonly isEnded: boolean
  readonly level: LoggingLevel | undefined
  readonly uris: readonly string[]
}

/** The records of a link, each atomic over all instances. */
export interface LinkStore {
  /** Stores a call in the place of its earlier round. */
  putCall(call: StoredCall): Promise<void>
  getCall(streamId: string): Promise<StoredCall | undefined>
  deleteCall(streamId: string): Promise<void>
  /** Adds the answer to a question; the first one stays. */
  addAnswer(questionId: string, response: RpcResponse): Promise<void>
  getAnswer(questionId: string): Promise<RpcResponse | undefined>
  /** Resolves with true for the one instance that may use the answers of a round. */
  claim(roundId: string): Promise<boolean>
  isClaimed(roundId: string): Promise<boolean>
  putResponse(streamId: string, storedResponse: StoredResponse): Promise<void>
  getResponse(streamId: string): Promise<StoredResponse | undefined>
  /** Adds a text at a place of a relay; false when another instance writes it. */
  addText(relayId: string, index: number, text: string): Promise<boolean>
  /** Takes the text at a place of a relay. */
  takeText(relayId: string, index: number): Promise<string | undefined>
  getSession(sessionKey: string): Promise<StoredSession>
  /** Changes the record of a session, one instance after the other. Resolves with the new one. */
  changeSession(
    sessionKey: string,
    ttlMs: number,
    change: (storedSession: StoredSession) => StoredSession,
  ): Promise<StoredSession>
}

/** Times of a {@link LinkStore}, in milliseconds. */
export interface LinkStoreOptions {
  readonly answerTimeoutMs: number
  readonly resumeWindowMs: number
  readonly sleep: (ms: number) => Promise<void>
}

const defaultSession: StoredSession = { isEnded: false, level: undefined, uris: [] }
const lockDurationMs = 5000
const lockPollIntervalMs = 25

/** Keeps the records of a link in a store. */
export function createLinkStore(
  store: StateStore,
  { answerTimeoutMs, resumeWindowMs, sleep }: LinkStoreOptions,
): LinkStore {
  // Whoever comes late must still find what was decided.
  const callLifetimeMs = answerTimeoutMs + 2 * resumeWindowMs
  const readJson = async (key: string): Promise<JsonObject | undefined> => {
    const text = await store.get(key)
    return text === undefined ? undefined : parseJsonObject(text)
  }
  const replaceJson = async (key: string, value: JsonObject, ttlMs: number): Promise<void> => {
    await store.delete(key)
    await store.add(key, JSON.stringify(value), ttlMs)
  }
  const getSession = async (sessionKey: string): Promise<StoredSession> => ({
    ...defaultSession,
    ...((await readJson(`legacy:session:${sessionKey}`)) as Partial<StoredSession> | undefined),
  })
  return {
    putCall: (call) => replaceJson(callKey(call.waitingCall.streamId), encodeCall(call), callLifetimeMs),
    async getCall(streamId) {
      const storedJson = await readJson(callKey(streamId))
      return storedJson && decodeCall(storedJson)
    },
    deleteCall: (streamId) => store.delete(callKey(streamId)),
    async addAnswer(questionId, response) {
      await store.add(`legacy:answer:${questionId}`, JSON.stringify(response), callLifetimeMs)
    },
    // The value is one that `addAnswer` wrote.
    getAnswer: async (questionId) => (await readJson(`legacy:answer:${questionId}`)) as RpcResponse | undefined,
    claim: (roundId) => store.add(`legacy:run:${roundId}`, '1', callLifetimeMs),
    isClaimed: async (roundId) => (await store.get(`legacy:run:${roundId}`)) !== undefined,
    putResponse: (streamId, storedResponse) =>
      replaceJson(`legacy:end:${streamId}`, { ...storedResponse }, resumeWindowMs),
    getResponse: async (streamId) => (await readJson(`legacy:end:${streamId}`)) as StoredResponse | undefined,
    addText: (relayId, index, text) => store.add(`legacy:relay:${relayId}.${index}`, text, resumeWindowMs),
    async takeText(relayId, index) {
      const text = await store.get(`legacy:relay:${relayId}.${index}`)
      if (text !== undefined) await store.delete(`legacy:relay:${relayId}.${index}`)
      return text
    },
    getSession,
    async changeSession(sessionKey, ttlMs, change) {
      const lockKey = `legacy:lock:${sessionKey}`
      // A holder that dies keeps the lock for its time.
      while (!(await store.add(lockKey, randomId(), lockDurationMs))) await sleep(lockPollIntervalMs)
      try {
        const changedSession = change(await getSession(sessionKey))
        await replaceJson(`legacy:session:${sessionKey}`, { ...changedSession }, ttlMs)
        return changedSession
      } finally {
        await store.delete(lockKey)
      }
    },
  }
}

function callKey(streamId: string): string {
  return `legacy:call:${streamId}`
}

function encodeCall({ waitingCall, session, round, questions, askedAt }: StoredCall): JsonObject {
  const questionRows = questions.map(
    ({ key, id, method, params = null, number }): JsonValue => [key, id, method, params, number],
  )
  return { waiting: encodeWaitingCall(waitingCall), session, round, questions: questionRows, askedAt }
}

// The content comes from `encodeCall`, of this version of the package or another.
function decodeCall({ waiting, session, round, questions, askedAt }: JsonObject): StoredCall | undefined {
  const waitingCall = decodeWaitingCall(waiting ?? null)
  if (waitingCall === undefined || typeof session !== 'string' || typeof round !== 'string') return undefined
  const questionRows = questions as unknown as readonly (readonly [string, string, string, JsonObject | null, number])[]
  return {
    waitingCall,
    session,
    round,
    askedAt: Number(askedAt),
    questions: questionRows.map(([key, id, method, params, number]) => ({
      key,
      id,
      method,
      params: params ?? undefined,
      number,
    })),
  }
}

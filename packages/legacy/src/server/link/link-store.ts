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
  getCall(stream: string): Promise<StoredCall | undefined>
  deleteCall(stream: string): Promise<void>
  /** Adds the answer to a question; the first one stays. */
  addAnswer(question: string, response: RpcResponse): Promise<void>
  getAnswer(question: string): Promise<RpcResponse | undefined>
  /** Resolves with true for the one instance that may use the answers of a round. */
  claim(round: string): Promise<boolean>
  isClaimed(round: string): Promise<boolean>
  putResponse(stream: string, end: StoredResponse): Promise<void>
  getResponse(stream: string): Promise<StoredResponse | undefined>
  /** Adds a text at a place of a relay; false when another instance writes it. */
  addText(relay: string, index: number, text: string): Promise<boolean>
  /** Takes the text at a place of a relay. */
  takeText(relay: string, index: number): Promise<string | undefined>
  getSession(session: string): Promise<StoredSession>
  /** Changes the record of a session, one instance after the other. Resolves with the new one. */
  changeSession(
    session: string,
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
  const getSession = async (session: string): Promise<StoredSession> => ({
    ...defaultSession,
    ...((await readJson(`legacy:session:${session}`)) as Partial<StoredSession> | undefined),
  })
  return {
    putCall: (call) => replaceJson(callKey(call.waitingCall.streamId), encodeCall(call), callLifetimeMs),
    async getCall(stream) {
      const storedJson = await readJson(callKey(stream))
      return storedJson && decodeCall(storedJson)
    },
    deleteCall: (stream) => store.delete(callKey(stream)),
    async addAnswer(question, response) {
      await store.add(`legacy:answer:${question}`, JSON.stringify(response), callLifetimeMs)
    },
    // The value is one that `addAnswer` wrote.
    getAnswer: async (question) => (await readJson(`legacy:answer:${question}`)) as RpcResponse | undefined,
    claim: (round) => store.add(`legacy:run:${round}`, '1', callLifetimeMs),
    isClaimed: async (round) => (await store.get(`legacy:run:${round}`)) !== undefined,
    putResponse: (stream, end) => replaceJson(`legacy:end:${stream}`, { ...end }, resumeWindowMs),
    getResponse: async (stream) => (await readJson(`legacy:end:${stream}`)) as StoredResponse | undefined,
    addText: (relay, index, text) => store.add(`legacy:relay:${relay}.${index}`, text, resumeWindowMs),
    async takeText(relay, index) {
      const text = await store.get(`legacy:relay:${relay}.${index}`)
      if (text !== undefined) await store.delete(`legacy:relay:${relay}.${index}`)
      return text
    },
    getSession,
    async changeSession(session, ttlMs, change) {
      const lockKey = `legacy:lock:${session}`
      // A holder that dies keeps the lock for its time.
      while (!(await store.add(lockKey, randomId(), lockDurationMs))) await sleep(lockPollIntervalMs)
      try {
        const changedSession = change(await getSession(session))
        await replaceJson(`legacy:session:${session}`, { ...changedSession }, ttlMs)
        return changedSession
      } finally {
        await store.delete(lockKey)
      }
    },
  }
}

function callKey(stream: string): string {
  return `legacy:call:${stream}`
}

function encodeCall({ waitingCall, session, round, questions, askedAt }: StoredCall): JsonObject {
  const questionRows = questions.map(
    ({ key, id, method, params = null, number }): JsonValue => [key, id, method, params, number],
  )
  return { waiting: encodeWaitingCall(waitingCall), session, round, questions: questionRows, askedAt }
}

// The content comes from `encodeCall`, of this version of the package or another.
function decodeCall({ waiting, session, round, questions, askedAt }: JsonObject): StoredCall | undefined {
  const call = decodeWaitingCall(waiting ?? null)
  if (call === undefined || typeof session !== 'string' || typeof round !== 'string') return undefined
  const questionRows = questions as unknown as readonly (readonly [string, string, string, JsonObject | null, number])[]
  return {
    waitingCall: call,
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

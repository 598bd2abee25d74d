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
  readonly waiting: WaitingCall
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
  addText(relay: string, place: number, text: string): Promise<boolean>
  /** Takes the text at a place of a relay. */
  takeText(relay: string, place: number): Promise<string | undefined>
  getSession(session: string): Promise<StoredSession>
  /** Changes the record of a session, one instance after the other. Resolves with the new one. */
  changeSession(
    session: string,
    ttlMs: number,
    change: (stored: StoredSession) => StoredSession,
  ): Promise<StoredSession>
}

/** Times of a {@link LinkStore}, in milliseconds. */
export interface LinkStoreOptions {
  readonly answerTimeoutMs: number
  readonly resumeMs: number
  readonly sleep: (ms: number) => Promise<void>
}

const defaultSession: StoredSession = { isEnded: false, level: undefined, uris: [] }
const lockDurationMs = 5000
const lockPollIntervalMs = 25

/** Keeps the records of a link in a store. */
export function createLinkStore(store: StateStore, { answerTimeoutMs, resumeMs, sleep }: LinkStoreOptions): LinkStore {
  // Whoever comes late must still find what was decided.
  const callMs = answerTimeoutMs + 2 * resumeMs
  const readJson = async (key: string): Promise<JsonObject | undefined> => {
    const text = await store.get(key)
    return text === undefined ? undefined : parseJsonObject(text)
  }
  const replace = async (key: string, value: JsonObject, ttlMs: number): Promise<void> => {
    await store.delete(key)
    await store.add(key, JSON.stringify(value), ttlMs)
  }
  const getSession = async (session: string): Promise<StoredSession> => ({
    ...defaultSession,
    ...((await readJson(`legacy:session:${session}`)) as Partial<StoredSession> | undefined),
  })
  return {
    putCall: (call) => replace(callKey(call.waiting.streamId), encodeCall(call), callMs),
    async getCall(stream) {
      const stored = await readJson(callKey(stream))
      return stored && decodeCall(stored)
    },
    deleteCall: (stream) => store.delete(callKey(stream)),
    async addAnswer(question, response) {
      await store.add(`legacy:answer:${question}`, JSON.stringify(response), callMs)
    },
    // The value is one that `addAnswer` wrote.
    getAnswer: async (question) => (await readJson(`legacy:answer:${question}`)) as RpcResponse | undefined,
    claim: (round) => store.add(`legacy:run:${round}`, '1', callMs),
    isClaimed: async (round) => (await store.get(`legacy:run:${round}`)) !== undefined,
    putResponse: (stream, end) => replace(`legacy:end:${stream}`, { ...end }, resumeMs),
    getResponse: async (stream) => (await readJson(`legacy:end:${stream}`)) as StoredResponse | undefined,
    addText: (relay, place, text) => store.add(`legacy:relay:${relay}.${place}`, text, resumeMs),
    async takeText(relay, place) {
      const text = await store.get(`legacy:relay:${relay}.${place}`)
      if (text !== undefined) await store.delete(`legacy:relay:${relay}.${place}`)
      return text
    },
    getSession,
    async changeSession(session, ttlMs, change) {
      const lock = `legacy:lock:${session}`
      // A holder that dies keeps the lock for its time.
      while (!(await store.add(lock, randomId(), lockDurationMs))) await sleep(lockPollIntervalMs)
      try {
        const changed = change(await getSession(session))
        await replace(`legacy:session:${session}`, { ...changed }, ttlMs)
        return changed
      } finally {
        await store.delete(lock)
      }
    },
  }
}

function callKey(stream: string): string {
  return `legacy:call:${stream}`
}

function encodeCall({ waiting, session, round, questions, askedAt }: StoredCall): JsonObject {
  const asked = questions.map(
    ({ key, id, method, params = null, number }): JsonValue => [key, id, method, params, number],
  )
  return { waiting: encodeWaitingCall(waiting), session, round, questions: asked, askedAt }
}

// The content comes from `encodeCall`, of this version of the package or another.
function decodeCall({ waiting, session, round, questions, askedAt }: JsonObject): StoredCall | undefined {
  const call = decodeWaitingCall(waiting ?? null)
  if (call === undefined || typeof session !== 'string' || typeof round !== 'string') return undefined
  const asked = questions as unknown as readonly (readonly [string, string, string, JsonObject | null, number])[]
  return {
    waiting: call,
    session,
    round,
    askedAt: Number(askedAt),
    questions: asked.map(([key, id, method, params, number]) => ({
      key,
      id,
      method,
      params: params ?? undefined,
      number,
    })),
  }
}

import { parseJsonObject, randomId, storeOfOwner } from '@x/core'
import type { JsonObject, LoggingLevel, RpcResponse } from '@x/schema'
import { isStateError, StateError, type StateStore } from '@x/state-codec'
import { decodeRound, encodeRound, type WaitingRound } from '../../call/waiting-round.ts'

/** The response of a call whose stream the client may still resume. */
export interface StoredResponse {
  readonly session: string
  /** The number of the event with the response. */
  readonly number: number
  readonly text: string
}

/** The part of a session that its requests have changed. */
export interface StoredSession {
  /** The number of changes so far. It shows whether a store that was restored has an older record. */
  readonly version: number
  readonly isEnded: boolean
  readonly level: LoggingLevel | undefined
  readonly uris: readonly string[]
}

/**
 * The records that instances with a common `store` share. Each record is read and written as a whole. A record that is
 * written counts in the quota of `owner`.
 */
export interface LinkStore {
  /** Marks the store as used. Resolves with true if it had no mark, as a store that is new or was emptied. */
  mark(): Promise<boolean>
  /** Stores a round. It replaces an earlier round of the same call. */
  putRound(round: WaitingRound, owner: string): Promise<void>
  /**
   * Stores a round again, because the store may have lost it. Does nothing if the round was claimed, or if the store
   * has a later round of the call. An earlier round is replaced, because a store that was restored returns it.
   */
  restoreRound(round: WaitingRound, owner: string): Promise<void>
  getRound(streamId: string): Promise<WaitingRound | undefined>
  deleteRound(streamId: string): Promise<void>
  /** Stores the answer to a question. If there is an answer already, it stays. */
  addAnswer(questionId: string, response: RpcResponse, owner: string): Promise<void>
  getAnswer(questionId: string): Promise<RpcResponse | undefined>
  /**
   * Claims a round. Resolves with true for only one claimant, which may use the answers of the round. Also resolves with
   * true if that claimant claims the round again.
   */
  claim(roundId: string, claim: { readonly claimant: string; readonly owner: string }): Promise<boolean>
  isClaimed(roundId: string): Promise<boolean>
  isClaimedElsewhere(roundId: string): Promise<boolean>
  putResponse(streamId: string, storedResponse: StoredResponse, owner: string): Promise<void>
  getResponse(streamId: string): Promise<StoredResponse | undefined>
  getSession(sessionKey: string): Promise<StoredSession>
  /** Changes the record of a session while other instances wait. Resolves with the new record. */
  changeSession(
    session: { readonly key: string; readonly ttlMs: number; readonly owner: string },
    change: (storedSession: StoredSession) => StoredSession,
  ): Promise<StoredSession>
}

/** The times of a {@link LinkStore} in milliseconds, and its callback. */
export interface LinkStoreOptions {
  readonly answerTimeoutMs: number
  readonly resumeWindowMs: number
  readonly sleep: (ms: number) => Promise<void>
  /** Called when the store was unreachable. It may return with an older state. */
  readonly onUnavailable: () => void
}

const defaultSession: StoredSession = { version: 0, isEnded: false, level: undefined, uris: [] }
const lockDurationMs = 5000
const lockPollIntervalMs = 25
const markTtlMs = 30 * 86_400_000

/** Creates a {@link LinkStore} over a store. */
export function createLinkStore(givenStore: StateStore, options: LinkStoreOptions): LinkStore {
  const { answerTimeoutMs, resumeWindowMs, sleep, onUnavailable } = options
  const store = withUnavailableErrors(givenStore, onUnavailable)
  // An instance may read a round late, and must then still find its claim.
  const roundTtlMs = answerTimeoutMs + 2 * resumeWindowMs
  const ownedBy = (owner: string): Pick<StateStore, 'add'> => storeOfOwner(store, owner)
  const readJson = async (key: string): Promise<JsonObject | undefined> => {
    const text = await store.get(key)
    return text === undefined ? undefined : parseJsonObject(text)
  }
  const replaceJson = async (key: string, value: JsonObject, ttlMs: number, owner: string): Promise<void> => {
    await store.delete(key)
    await ownedBy(owner).add(key, JSON.stringify(value), ttlMs)
  }
  const getRound = async (streamId: string): Promise<WaitingRound | undefined> =>
    decodeRound((await readJson(roundKey(streamId)))?.['round'])
  const getSession = async (sessionKey: string): Promise<StoredSession> => ({
    ...defaultSession,
    ...((await readJson(`legacy:session:${sessionKey}`)) as Partial<StoredSession> | undefined),
  })
  return {
    mark: () => store.add('legacy:lock:mark', '1', markTtlMs),
    putRound: (round, owner) =>
      replaceJson(roundKey(round.streamId), { round: encodeRound(round, { withParams: true }) }, roundTtlMs, owner),
    async restoreRound(round, owner) {
      if ((await store.get(claimKey(round.id))) !== undefined) return
      const storedRound = await getRound(round.streamId)
      if (storedRound !== undefined && storedRound.roundCount < round.roundCount)
        await store.delete(roundKey(round.streamId))
      await ownedBy(owner).add(roundKey(round.streamId), stringifyRound(round), roundTtlMs)
    },
    getRound,
    deleteRound: (streamId) => store.delete(roundKey(streamId)),
    async addAnswer(questionId, response, owner) {
      await ownedBy(owner).add(`legacy:answer:${questionId}`, JSON.stringify(response), roundTtlMs)
    },
    // The stored value is a response that `addAnswer` wrote.
    getAnswer: async (questionId) => (await readJson(`legacy:answer:${questionId}`)) as RpcResponse | undefined,
    ...createRoundClaims(store, roundTtlMs),
    putResponse: (streamId, storedResponse, owner) =>
      replaceJson(`legacy:end:${streamId}`, { ...storedResponse }, resumeWindowMs, owner),
    getResponse: async (streamId) => (await readJson(`legacy:end:${streamId}`)) as StoredResponse | undefined,
    getSession,
    async changeSession({ key, ttlMs, owner }, change) {
      const lockKey = `legacy:lock:${key}`
      // If the instance that has the lock dies, the lock expires after `lockDurationMs`.
      while (!(await store.add(lockKey, randomId(), lockDurationMs))) await sleep(lockPollIntervalMs)
      try {
        const storedSession = await getSession(key)
        const nextSession = change(storedSession)
        const changedSession = { ...nextSession, version: Math.max(nextSession.version, storedSession.version + 1) }
        await replaceJson(`legacy:session:${key}`, { ...changedSession }, ttlMs, owner)
        return changedSession
      } finally {
        await store.delete(lockKey)
      }
    },
  }
}

/** Creates the claims of one instance. A claim is a record with the id of the instance and its claimant. */
function createRoundClaims(
  store: StateStore,
  ttlMs: number,
): Pick<LinkStore, 'claim' | 'isClaimed' | 'isClaimedElsewhere'> {
  const instanceId = randomId()
  const readClaim = (roundId: string): Promise<string | undefined> => store.get(claimKey(roundId))
  return {
    async claim(roundId, { claimant, owner }) {
      const value = `${instanceId}.${claimant}`
      if (await storeOfOwner(store, owner).add(claimKey(roundId), value, ttlMs)) return true
      // If the reply of the store to an earlier claim was lost, the record already contains this value.
      return (await readClaim(roundId)) === value
    },
    isClaimed: async (roundId) => (await readClaim(roundId)) !== undefined,
    async isClaimedElsewhere(roundId) {
      const claim = await readClaim(roundId)
      return claim !== undefined && !claim.startsWith(`${instanceId}.`)
    },
  }
}

function claimKey(roundId: string): string {
  return `legacy:run:${roundId}`
}

function stringifyRound(round: WaitingRound): string {
  return JSON.stringify({ round: encodeRound(round, { withParams: true }) })
}

function roundKey(streamId: string): string {
  return `legacy:call:${streamId}`
}

/**
 * Wraps a store so that each failure becomes a `StateError`, with the code `unavailable` unless it is one already. Calls
 * `onUnavailable` for each failure with this code.
 */
function withUnavailableErrors(store: StateStore, onUnavailable: () => void): StateStore {
  const guard = async <T>(operation: () => Promise<T>): Promise<T> => {
    try {
      return await operation()
    } catch (cause) {
      if (isStateError(cause) && cause.code !== 'unavailable') throw cause
      onUnavailable()
      throw isStateError(cause) ? cause : new StateError('unavailable', 'The store of the link failed', { cause })
    }
  }
  return {
    add: (key, value, ttlMs) => guard(() => store.add(key, value, ttlMs)),
    get: (key) => guard(() => store.get(key)),
    delete: (key) => guard(() => store.delete(key)),
    forOwner: (owner) => withUnavailableErrors(storeOfOwner(store, owner), onUnavailable),
  }
}

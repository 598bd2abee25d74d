import { parseJsonObject, randomId, storeOfOwner } from '@x/core'
import type { JsonObject, LoggingLevel, RpcResponse } from '@x/schema'
import { isStateError, StateError, type StateStore } from '@x/state-codec'
import { decodeRound, encodeRound, type WaitingRound } from '../../call/waiting-round.ts'
import type { WrittenEvent } from '../event-id.ts'

/** The response of a call whose stream the client may still resume. */
export interface StoredResponse extends WrittenEvent {
  readonly session: string
}

/** The part of a session that its requests have changed. */
export interface StoredSession {
  /** Counts the changes. It shows whether a store that was restored has an older record. */
  readonly version: number
  readonly isEnded: boolean
  readonly level: LoggingLevel | undefined
  readonly uris: readonly string[]
}

/** All times are in milliseconds. */
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

/**
 * Records that instances with a common `store` share. Each is read and written as a whole, and counts in the quota of
 * `owner`.
 */
export class LinkStore {
  readonly #store: StateStore
  readonly #options: LinkStoreOptions
  readonly #roundTtlMs: number
  readonly #instanceId = randomId()

  constructor(givenStore: StateStore, options: LinkStoreOptions) {
    this.#store = withUnavailableErrors(givenStore, options.onUnavailable)
    this.#options = options
    // An instance may read a round late, and must then still find its claim.
    this.#roundTtlMs = options.answerTimeoutMs + 2 * options.resumeWindowMs
  }

  /** Marks the store as used. Resolves with true if it had no mark, as a store that is new or was emptied. */
  mark(): Promise<boolean> {
    return this.#store.add('legacy:lock:mark', '1', markTtlMs)
  }

  /** Stores a round. It replaces an earlier round of the same call. */
  putRound(round: WaitingRound, owner: string): Promise<void> {
    return this.#replace(roundKey(round.streamId), stringifyRound(round), this.#roundTtlMs, owner)
  }

  /**
   * Stores a round again, because the store may have lost it. Does nothing if the round was claimed, or if the store
   * has a later round of the call. An earlier round is replaced, because a store that was restored returns it.
   */
  async restoreRound(round: WaitingRound, owner: string): Promise<void> {
    if (await this.isClaimed(round.id)) return
    const storedRound = await this.getRound(round.streamId)
    if (storedRound !== undefined && storedRound.roundCount < round.roundCount) await this.deleteRound(round.streamId)
    await this.#ownedBy(owner).add(roundKey(round.streamId), stringifyRound(round), this.#roundTtlMs)
  }

  async getRound(streamId: string): Promise<WaitingRound | undefined> {
    return decodeRound((await this.#readJson(roundKey(streamId)))?.['round'])
  }

  deleteRound(streamId: string): Promise<void> {
    return this.#store.delete(roundKey(streamId))
  }

  /** Stores the answer to a question. If there is one already, it stays. */
  async addAnswer(questionId: string, response: RpcResponse, owner: string): Promise<void> {
    await this.#ownedBy(owner).add(`legacy:answer:${questionId}`, JSON.stringify(response), this.#roundTtlMs)
  }

  async getAnswer(questionId: string): Promise<RpcResponse | undefined> {
    // Written by `addAnswer`, so it is a response.
    return (await this.#readJson(`legacy:answer:${questionId}`)) as RpcResponse | undefined
  }

  /**
   * Claims a round. Resolves with true for only one claimant, which may use the round's answers, and for that one also
   * when it claims again.
   */
  async claim(
    roundId: string,
    { claimant, owner }: { readonly claimant: string; readonly owner: string },
  ): Promise<boolean> {
    const value = `${this.#instanceId}.${claimant}`
    if (await this.#ownedBy(owner).add(claimKey(roundId), value, this.#roundTtlMs)) return true
    // If the store's reply to an earlier claim was lost, the record already contains this value.
    return (await this.#store.get(claimKey(roundId))) === value
  }

  async isClaimed(roundId: string): Promise<boolean> {
    return (await this.#store.get(claimKey(roundId))) !== undefined
  }

  async isClaimedElsewhere(roundId: string): Promise<boolean> {
    const claim = await this.#store.get(claimKey(roundId))
    return claim !== undefined && !claim.startsWith(`${this.#instanceId}.`)
  }

  putResponse(streamId: string, storedResponse: StoredResponse, owner: string): Promise<void> {
    const text = JSON.stringify(storedResponse)
    return this.#replace(`legacy:end:${streamId}`, text, this.#options.resumeWindowMs, owner)
  }

  async getResponse(streamId: string): Promise<StoredResponse | undefined> {
    return (await this.#readJson(`legacy:end:${streamId}`)) as StoredResponse | undefined
  }

  async getSession(sessionKey: string): Promise<StoredSession> {
    const record = (await this.#readJson(`legacy:session:${sessionKey}`)) as Partial<StoredSession> | undefined
    return { ...defaultSession, ...record }
  }

  /** Changes a session's record while other instances wait. Resolves with the new record. */
  async changeSession(
    { key, ttlMs, owner }: { readonly key: string; readonly ttlMs: number; readonly owner: string },
    change: (storedSession: StoredSession) => StoredSession,
  ): Promise<StoredSession> {
    const lockKey = `legacy:lock:${key}`
    const lockValue = randomId()
    // If the instance that has the lock dies, the lock expires after `lockDurationMs`.
    while (!(await this.#store.add(lockKey, lockValue, lockDurationMs))) await this.#options.sleep(lockPollIntervalMs)
    try {
      const storedSession = await this.getSession(key)
      const nextSession = change(storedSession)
      const changedSession = { ...nextSession, version: Math.max(nextSession.version, storedSession.version + 1) }
      await this.#replace(`legacy:session:${key}`, JSON.stringify(changedSession), ttlMs, owner)
      return changedSession
    } finally {
      // After a slow change the lock may have expired, and another change may have it by now.
      if ((await this.#store.get(lockKey)) === lockValue) await this.#store.delete(lockKey)
    }
  }

  #ownedBy(owner: string): Pick<StateStore, 'add'> {
    return storeOfOwner(this.#store, owner)
  }

  async #readJson(key: string): Promise<JsonObject | undefined> {
    const text = await this.#store.get(key)
    return text === undefined ? undefined : parseJsonObject(text)
  }

  async #replace(key: string, text: string, ttlMs: number, owner: string): Promise<void> {
    await this.#store.delete(key)
    await this.#ownedBy(owner).add(key, text, ttlMs)
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
 * Makes each failure of a store a `StateError`, with the code `unavailable` unless it is one already. Calls
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

import { isMissingModuleError, isUnavailable, platformRuntime, randomId, storeOfOwner, withTimeout } from '@x/core'
import { isStateError, StateError } from '../state-error.ts'
import type { StateStore } from '../state-codec.ts'

/** The default time limit of a store call, in milliseconds. */
export const defaultTimeoutMs = 5_000

/** Options of a call to a store's client. */
export interface StoreCallOptions {
  /** The name of the store in the log. */
  readonly name: string
  readonly timeoutMs: number
}

/**
 * Calls a store's client with a time limit. The limit is necessary, because some clients queue commands without a limit
 * while they are disconnected.
 *
 * @throws StateError with `unavailable` for every error of the client. The error of a missing package is thrown as it is,
 * because no later call will succeed.
 */
export async function runStoreOperation<T>(
  { name, timeoutMs }: StoreCallOptions,
  operation: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const createTimeoutError = (): StateError =>
    new StateError('unavailable', `${name} did not answer within ${timeoutMs} ms`)
  try {
    return await withTimeout({ timeoutMs, clock: platformRuntime, createTimeoutError }, operation)
  } catch (error) {
    throw toStateError(name, error)
  }
}

/** A store with every operation, whose errors are all {@link StateError}. */
export interface GuardedStore extends Required<Omit<StateStore, 'forOwner'>> {
  /**
   * Checks the store. Rejects when it cannot be reached, or cannot write. A store whose disk is full can still be read,
   * so after a failed write it is checked by a write.
   */
  ping(): Promise<void>
  /** True if the wrapped store has `expire`. */
  readonly canExpire: boolean
  /**
   * Returns the view of the store for one owner. Returns the whole store without an owner, or if the wrapped store has
   * no `forOwner`.
   */
  forOwner(owner: string | undefined): GuardedStore
}

/** Milliseconds for which the entry of a check stays in the store. */
const checkEntryTtlMs = 60_000

/** Wraps a store so that every error is a {@link StateError}, except that of a missing package. */
export function withStateErrors(store: StateStore, writes = { haveFailed: false }): GuardedStore {
  const guardOperation = async <T>(operation: () => Promise<T>): Promise<T> => {
    try {
      return await operation()
    } catch (error) {
      throw toStateError('the store', error)
    }
  }
  const add = async (key: string, value: string, ttlMs: number): Promise<boolean> => {
    try {
      const isAdded = await guardOperation(() => store.add(key, value, ttlMs))
      writes.haveFailed = false
      return isAdded
    } catch (error) {
      if (isUnavailable(error)) writes.haveFailed = true
      throw error
    }
  }
  const guardedStore: GuardedStore = {
    add,
    get: (key) => guardOperation(() => store.get(key)),
    delete: (key) => guardOperation(() => store.delete(key)),
    async ping() {
      if (writes.haveFailed) await add(`ping:${randomId()}`, '', checkEntryTtlMs)
      else await guardOperation(() => store.get('ping'))
    },
    canExpire: store.expire !== undefined,
    expire: (key, ttlMs) => guardOperation(async () => store.expire?.(key, ttlMs)),
    forOwner: (owner) =>
      owner === undefined || store.forOwner === undefined
        ? guardedStore
        : withStateErrors(storeOfOwner(store, owner), writes),
  }
  return guardedStore
}

function toStateError(name: string, cause: unknown): unknown {
  if (isStateError(cause) || isMissingModuleError(cause)) return cause
  return new StateError('unavailable', `${name} failed: ${cause instanceof Error ? cause.message : 'unknown reason'}`, {
    cause,
  })
}

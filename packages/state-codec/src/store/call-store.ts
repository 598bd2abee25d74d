import { isMissingModuleError, isUnavailable, platformRuntime, randomId, storeOfOwner, withTimeout } from '@x/core'
import { isStateError, StateError } from '../state-error.ts'
import type { StateStore } from '../state-codec.ts'

/** For one call of a store. */
export const defaultTimeoutMs = 5_000

/**
 * Some clients queue commands without a limit while they are disconnected, so each call has a time limit. In the log,
 * the store is called `name`.
 *
 * @throws StateError with `unavailable` for every error of the client. The error of a missing package is thrown as it is,
 * because no later call will succeed.
 */
export async function runStoreOperation<T>(
  { name, timeoutMs }: { readonly name: string; readonly timeoutMs: number },
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

/** Has every operation, and fails with {@link StateError} alone. */
export interface GuardedStore extends Required<Omit<StateStore, 'forOwner'>> {
  /**
   * Rejects when the store cannot be reached, or cannot write. A store whose disk is full can still be read, so after a
   * failed write it is checked by a write.
   */
  ping(): Promise<void>
  /** The wrapped store has `expire`. */
  readonly canExpire: boolean
  /** The whole store without an owner, or if the wrapped store has no `forOwner`. */
  forOwner(owner: string | undefined): GuardedStore
}

const checkEntryTtlMs = 60_000

/** Makes every error a {@link StateError}, except that of a missing package. */
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

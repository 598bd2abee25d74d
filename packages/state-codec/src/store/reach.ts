import { isStateError, StateError } from '../state-error.ts'
import type { StateStore } from './state-store.ts'

/** How long a store may take, in milliseconds, unless it is told otherwise. */
export const defaultTimeoutMs = 5_000

/** How a store's client is called. */
export interface Reach {
  /** What the log calls the store. */
  readonly name: string
  readonly timeoutMs: number
}

/**
 * Calls a store's client within a time limit: clients keep commands back while they are not connected, some for ever.
 *
 * @throws StateError with `unavailable`, whatever the client threw.
 */
export async function reach<T>({ name, timeoutMs }: Reach, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new StateError('unavailable', `${name} did not answer within ${timeoutMs} ms`))
      controller.abort()
    }, timeoutMs)
  })
  try {
    return await Promise.race([work(controller.signal), late])
  } catch (error) {
    throw unavailable(name, error)
  } finally {
    clearTimeout(timer)
  }
}

/** The same store, whose errors are a {@link StateError} whoever wrote it. */
export function guarded(store: StateStore): StateStore {
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw unavailable('the store', error)
    }
  }
  return {
    add: (key, value, ttlMs) => guard(() => store.add(key, value, ttlMs)),
    get: (key) => guard(() => store.get(key)),
    delete: (key) => guard(() => store.delete(key)),
  }
}

function unavailable(name: string, cause: unknown): unknown {
  if (isStateError(cause)) return cause
  return new StateError(
    'unavailable',
    `${name} failed: ${cause instanceof Error ? cause.message : 'no reason given'}`,
    {
      cause,
    },
  )
}

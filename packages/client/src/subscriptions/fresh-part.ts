import type { Clock } from '@x/schema'
import type { CachePartition } from '../caching/cache-partition.ts'
import { ClientError } from '../request/client-error.ts'
import type { SendOnce } from '../request/request.ts'
import type { Listen } from './listen.ts'
import type { ListenOptions } from './subscription.ts'

/** The parts of the client that keep one part of the cache fresh. */
export interface FreshPart {
  readonly listen: Listen
  readonly once: SendOnce
  readonly partition: CachePartition
  readonly clock: Clock
  readonly jitterMs: number
  /** Opens a subscription, with the signal of this part. */
  readonly options: ListenOptions
  /** Aborts when this part is no longer kept fresh. */
  readonly signal: AbortSignal
  readonly failed: (error: unknown) => void
}

/** Creates the error for a subscription that the server ended and that is not opened again. */
export function endedError(): ClientError {
  const why = 'the server ended the subscription, and it is not opened again; allow more with reopen'
  return new ClientError('transport', why, { method: 'subscriptions/listen' })
}

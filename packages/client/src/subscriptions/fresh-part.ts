import type { Clock } from '@x/schema'
import type { KeptResults } from '../caching/kept-results.ts'
import { ClientError } from '../client-error.ts'
import type { SendOnce } from '../request/request.ts'
import type { Listen } from './listen.ts'
import type { ListenOptions } from './subscription.ts'

/** What a part of a cache needs to be kept fresh. */
export interface FreshPart {
  readonly listen: Listen
  readonly once: SendOnce
  readonly kept: KeptResults
  readonly clock: Clock
  readonly spreadMs: number
  /** How to listen; with the signal of this part. */
  readonly how: ListenOptions
  /** Aborts when the part is not to be kept fresh any longer. */
  readonly signal: AbortSignal
  readonly failed: (error: unknown) => void
}

/** What is told when the server ended a subscription that is not opened again. */
export function endedError(): ClientError {
  const why = 'the server ended the subscription, and it is not opened again; allow more with reopen'
  return new ClientError('transport', why, { method: 'subscriptions/listen' })
}

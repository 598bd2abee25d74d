import type { Clock } from '@x/schema'
import { type HttpClient, HttpError } from '@x/transport-http/client'
import type { LegacySettings } from '../client/options.ts'

/** Parameters of a step with a limit of time. */
export interface TimeoutContext {
  readonly http: HttpClient
  readonly clock: Clock
  readonly settings: Pick<LegacySettings, 'handshakeTimeoutMs'>
}

/** Runs a step of a connection's own with a signal that aborts when its time is over, or with the connection. */
export async function withRequestTimeout<T>(
  { http, clock, settings }: TimeoutContext,
  what: string,
  step: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { handshakeTimeoutMs: ms } = settings
  const limit = new AbortController()
  const { origin } = new URL(http.url)
  const late = (): HttpError => new HttpError('timeout', `${origin}: no answer to ${what} within ${ms} ms`, { origin })
  const timer = clock.setTimeout(() => limit.abort(late()), ms)
  try {
    return await step(AbortSignal.any([limit.signal, http.closed]))
  } finally {
    clock.clearTimeout(timer)
  }
}

import { type Clock, withTimeout } from '@x/core'
import { type HttpClient, HttpError } from '@x/transport-http/client'
import type { LegacySettings } from '../client/options.ts'

/** Parameters of a step with a limit of time. */
export interface TimeoutContext {
  readonly http: HttpClient
  readonly clock: Clock
  readonly settings: Pick<LegacySettings, 'handshakeTimeoutMs'>
}

/** Runs a step of a connection's own with a signal that aborts when its time is over, or with the connection. */
export function withRequestTimeout<T>(
  { http, clock, settings }: TimeoutContext,
  operation: string,
  step: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { handshakeTimeoutMs: ms } = settings
  const { origin } = new URL(http.url)
  const createTimeoutError = (): HttpError =>
    new HttpError('timeout', `${origin}: no answer to ${operation} within ${ms} ms`, { origin })
  return withTimeout({ signal: http.closed, timeoutMs: ms, clock, createTimeoutError }, step)
}

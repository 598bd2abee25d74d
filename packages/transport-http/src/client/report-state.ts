import type { ConnectionStateSource } from '@x/exchange/internal'
import { awayStatuses, HttpError, isHttpError, isLostServer } from './http-error.ts'

/** Records what an HTTP status says about the server, before the body is read. */
export function reportStatus(states: ConnectionStateSource, status: number, origin: string): void {
  if (status === 401) states.needLogin(new HttpError('status', 'the server requires a login', { origin, status }))
  // The body of these may be a JSON-RPC error, which only a server sends.
  else if (!awayStatuses.has(status)) states.open()
}

/** Records what a failed request says about the server. A failure of the program itself says nothing. */
export function reportStateOfFailure(states: ConnectionStateSource, error: unknown): void {
  if (!(error instanceof Error)) return
  if (error.name === 'AuthError') return states.needLogin(error)
  if (!isHttpError(error)) return
  if (isLostServer(error)) states.lose(error)
}

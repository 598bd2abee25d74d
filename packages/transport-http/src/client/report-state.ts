import type { ConnectionStateSource } from '@x/exchange/internal'
import { HttpError, isHttpError } from './http-error.ts'

const lostCodes: ReadonlySet<string> = new Set(['refused', 'connect', 'certificate', 'cors', 'timeout', 'closed'])

const awayStatuses: ReadonlySet<number | undefined> = new Set([502, 503, 504])

/** Records what an HTTP status says about the server, before the body is read. */
export function reportStatus(states: ConnectionStateSource, status: number, origin: string): void {
  if (status === 401) states.needLogin(new HttpError('status', 'the server requires a login', { origin, status }))
  // These may have a JSON-RPC error as their body, which only a server sends.
  else if (!awayStatuses.has(status)) states.open()
}

/** Records what a failed request says about the server. A failure of the program itself says nothing. */
export function reportStateOfFailure(states: ConnectionStateSource, error: unknown): void {
  if (!(error instanceof Error)) return
  if (error.name === 'AuthError') return states.needLogin(error)
  if (!isHttpError(error)) return
  if (lostCodes.has(error.code) || (error.code === 'status' && awayStatuses.has(error.status))) states.lose(error)
}

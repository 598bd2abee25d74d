import type { ConnectionStateSource } from '@x/exchange/internal'
import { HttpError, isHttpError } from './http-error.ts'
import { mediaTypeOf } from './read-reply.ts'
import type { IncomingResponse } from './sender.ts'

const lostCodes: ReadonlySet<string> = new Set(['refused', 'connect', 'certificate', 'cors', 'timeout', 'closed'])

const unknownCodes: ReadonlySet<string> = new Set(['status', 'protocol', 'redirect'])

const awayStatuses: ReadonlySet<number | undefined> = new Set([502, 503, 504])

/** Records what the head of a response says about the server, before the body is read. */
export function reportHead(states: ConnectionStateSource, response: IncomingResponse, origin: string): void {
  const { status } = response
  if (status === 401) states.needLogin(new HttpError('status', 'the server requires a login', { origin, status }))
  else if (states.state.status !== 'open' && isFromServer(response)) states.open()
}

/**
 * A wrong path or a proxy gives anything else. It may still have a JSON-RPC error as its body, which only a server
 * sends.
 */
function isFromServer(response: IncomingResponse): boolean {
  const type = mediaTypeOf(response.header('content-type'))
  return (
    response.status === 202 ||
    (response.status === 200 && (type === 'application/json' || type === 'text/event-stream'))
  )
}

/** Records what a failed request says about the server. A failure of the program itself says nothing. */
export function reportStateOfFailure(states: ConnectionStateSource, error: unknown): void {
  if (!(error instanceof Error)) return
  if (error.name === 'AuthError') return states.needLogin(error)
  if (!isHttpError(error)) return
  const isLost = lostCodes.has(error.code) || (error.code === 'status' && awayStatuses.has(error.status))
  // Something answers at the address, and nothing says that it is the server.
  const isUnknown = states.state.status === 'connecting' && unknownCodes.has(error.code)
  if (isLost || isUnknown) states.lose(error)
}

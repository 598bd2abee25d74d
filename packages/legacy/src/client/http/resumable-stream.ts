import { computeBackoffMs, sleep } from '@x/core'
import { type HttpClientResponse, HttpError } from '@x/transport-http/client'
import { type HttpSession, requestEvents } from './http-session.ts'
import { type MessageReaderContext, readEvents, type StreamPosition } from './read-messages.ts'

/** Milliseconds before a broken stream is resumed. */
export const retryDelays = { firstMs: 1000, maxMs: 30_000 }
/** Attempts in a row without an event. */
const maxAttempts = 5

/** How a stream is read over several connections. */
export interface StreamReadOptions {
  readonly reader: MessageReaderContext
  readonly signal: AbortSignal
  readonly maxBytes: number
  readonly maxConnections: number
  /** The shortest pause before a new connection, in milliseconds. */
  readonly minPauseMs: number
  readonly isDone: () => boolean
}

/**
 * Reads a stream, and resumes it by GET with `Last-Event-ID` when its connection breaks (basic/transports,
 * resumability). How long to pause before a new connection is up to the server. Stops after five attempts in a row
 * without an event, and after `maxConnections`.
 */
export async function readResumableStream(
  session: HttpSession,
  firstResponse: HttpClientResponse,
  readOptions: StreamReadOptions,
): Promise<void> {
  const { signal, isDone, maxConnections, minPauseMs } = readOptions
  const position: StreamPosition = { lastEventId: undefined, retryMs: undefined, eventCount: 0, byteCount: 0 }
  let response: HttpClientResponse | undefined = firstResponse
  let connectionCount = 0
  for (let attemptCount = 0; ; attemptCount += 1) {
    connectionCount += 1
    const eventCountBefore = position.eventCount
    const failure = await readStreamPart(session, response, { ...readOptions, position })
    if (isDone()) return
    signal.throwIfAborted()
    if (position.eventCount > eventCountBefore) attemptCount = 0
    const isExhausted = attemptCount >= maxAttempts || connectionCount >= maxConnections
    if (position.lastEventId === undefined || isExhausted || !isResumable(failure)) {
      if (failure !== undefined) throw failure
      return
    }
    const pauseMs = position.retryMs ?? computeBackoffMs(attemptCount, retryDelays)
    await sleep(Math.max(minPauseMs, pauseMs), { clock: session.clock, signal })
    response = undefined
  }
}

/** Reads one connection of a stream to its end. Resolves with the error if the connection fails. */
async function readStreamPart(
  session: HttpSession,
  existingResponse: HttpClientResponse | undefined,
  { reader, signal, maxBytes, position }: StreamReadOptions & { readonly position: StreamPosition },
): Promise<unknown> {
  try {
    const response = existingResponse ?? (await requestEvents(session, signal, position.lastEventId))
    const isStream = response.status === 200 && response.type === 'text/event-stream'
    if (existingResponse === undefined && !isStream) throw (await response.readFailure()).error
    await readEvents(response, reader, { position, maxBytes: maxBytes - position.byteCount })
    return undefined
  } catch (error) {
    return error
  }
}

// A broken connection or an unreachable server may recover. After any other failure, a new attempt would fail in the
// same way.
function isResumable(failure: unknown): boolean {
  if (failure === undefined) return true
  if (!(failure instanceof HttpError)) return false
  return ['closed', 'connect', 'refused'].includes(failure.code) || (failure.status ?? 0) >= 500
}

import type { RequestId } from '@x/schema'

/** This mark after an event's number says that the call waits for an answer, so that any instance may continue it. */
export const waitingMark = 'q'

export interface ParsedEventId {
  readonly streamId: string
  readonly eventNumber: number
  readonly isWaiting: boolean
  /** Undefined if the event id does not contain the id of the stream's request. */
  readonly requestId: RequestId | undefined
}

/** An event that was sent: its number and its text. */
export interface WrittenEvent {
  readonly number: number
  readonly text: string
}

const eventIdPattern = /^([\w-]{22})\.(\d{1,15})(q?)(?:\.([\w.!~*'()%-]{1,256}))?$/
const maxSuffixLength = 257

/** Reads a `Last-Event-ID`. Undefined if it is no event id of this package. */
export function parseEventId(id: string): ParsedEventId | undefined {
  const [, streamId, numberText, mark, requestText] = eventIdPattern.exec(id) ?? []
  if (streamId === undefined) return undefined
  return {
    streamId,
    eventNumber: Number(numberText),
    isWaiting: mark === waitingMark,
    requestId: requestText === undefined ? undefined : parseRequestId(requestText),
  }
}

/**
 * Ends the event ids of a stream with the id of its request. If the instance that runs the call ends, another one reads
 * the id there, and answers the request with an error.
 */
export function createRequestSuffix(id: RequestId): string {
  const text = JSON.stringify(id)
  if (text.length > maxSuffixLength) return ''
  const suffix = `.${encodeURIComponent(text)}`
  return suffix.length > maxSuffixLength ? '' : suffix
}

function parseRequestId(text: string): RequestId | undefined {
  try {
    const id: unknown = JSON.parse(decodeURIComponent(text))
    return typeof id === 'string' || typeof id === 'number' ? id : undefined
  } catch {
    return undefined
  }
}

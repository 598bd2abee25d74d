import type { Server } from '@x/exchange'
import { isJsonObject, type JsonObject } from '@x/schema'

/** The headers of a message, for transports with headers. */
export interface MessageHeaders {
  readonly method: string
  readonly name?: string | undefined
}

/** Sends raw text to a server, for invalid messages and messages that no client sends. */
export interface RawTransport extends AsyncDisposable {
  /** Sends a text in place of a message and resolves to the next response. */
  request(text: string, labels?: MessageHeaders): Promise<JsonObject>
  /** Sends a text that has no response. */
  notify(text: string, labels?: MessageHeaders): Promise<void>
}

/** Starts a server behind the transport that the tests run over. */
export type OpenTransport = (server: Server) => Promise<RawTransport>

/** Parses a response. A value that is not an object fails the test. */
export function parseObject(text: string): JsonObject {
  const value: unknown = JSON.parse(text)
  if (isJsonObject(value)) return value
  throw new Error(`expected an object, got ${text.slice(0, 100)}`)
}

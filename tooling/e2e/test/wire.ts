import { type Server, isJsonObject, type JsonObject } from '@x/schema'

/** The headers of a message, on a transport that has headers. */
export interface Labels {
  readonly method: string
  readonly name?: string | undefined
}

/** The way of bytes to a server, for what is no message or one that no client writes. */
export interface Wire extends AsyncDisposable {
  /** Sends a text where one message belongs, and gives what is answered next. */
  ask(text: string, labels?: Labels): Promise<JsonObject>
  /** Sends a text that has no answer. */
  tell(text: string, labels?: Labels): Promise<void>
}

/** Starts a server at the other end of the wire that the tests run over. */
export type Open = (server: Server) => Promise<Wire>

/** Parses a response; anything but a JSON object fails the test. */
export function objectOf(text: string): JsonObject {
  const value: unknown = JSON.parse(text)
  if (isJsonObject(value)) return value
  throw new Error(`expected an object, got ${text.slice(0, 100)}`)
}

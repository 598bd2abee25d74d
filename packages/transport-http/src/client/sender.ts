import type { Cancellable } from '@x/core'

/** The HTTP methods that the protocol uses, earlier revisions of it included. */
export type HttpMethod = 'POST' | 'GET' | 'DELETE'

/** One request as it goes out; it stops when it is cancelled. */
export interface OutgoingRequest extends Cancellable {
  readonly url: URL
  readonly method: HttpMethod
  /** Names and values in turn. */
  readonly headers: readonly string[]
  readonly body: string | undefined
}

/** A response whose body was not read yet. */
export interface IncomingResponse {
  readonly status: number
  /** A header by its lower-case name. */
  header(name: string): string | undefined
  /** Hands every chunk on; resolves when the body has ended, rejects when it breaks off or `take` throws. */
  read(take: (chunk: Uint8Array) => void): Promise<void>
  /** Closes the stream, whether it has been read or not. */
  stop(): void
}

/** The sender of a platform, where undici and fetch differ. It never follows redirects by itself. */
export interface Sender {
  send(outgoing: OutgoingRequest): Promise<IncomingResponse>
  /** True when bodies arrive decompressed, whatever the request accepts. */
  readonly isContentDecoded: boolean
  close(): Promise<void>
}

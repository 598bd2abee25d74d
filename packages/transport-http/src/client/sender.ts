import type { Cancellable } from '@x/core'

/** The HTTP methods that the protocol uses, earlier revisions of it included. */
export type HttpMethod = 'POST' | 'GET' | 'DELETE'

/** One request as it goes out. It stops when it is cancelled. */
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
  /** Hands every chunk on. Resolves when the body has ended, rejects when it breaks off or `take` throws. */
  read(onChunk: (chunk: Uint8Array) => void): Promise<void>
  /** Closes the stream, whether it has been read or not. */
  stop(): void
}

/** The sender of a platform, where undici and fetch differ. It never follows redirects by itself. */
export interface Sender {
  send(outgoingRequest: OutgoingRequest): Promise<IncomingResponse>
  /** True when bodies arrive decompressed for every `Accept-Encoding`. */
  readonly isContentDecoded: boolean
  close(): Promise<void>
}

/** As much of `fetch` as the transport uses. */
export type FetchFunction = (
  url: string,
  options: {
    readonly method: HttpMethod
    readonly headers: [string, string][]
    readonly body?: string
    readonly signal: AbortSignal
    readonly redirect: 'manual'
  },
) => Promise<Response>

/** Sends over `fetch`: for browsers and workers, and where a wrapped `fetch` signs or authorizes requests. */
export function createFetchSender(fetch: FetchFunction): Sender {
  return {
    isContentDecoded: true,
    send: async ({ url, method, headers, body, signal }) => {
      const headerPairs: [string, string][] = []
      for (let index = 0; index + 1 < headers.length; index += 2) {
        headerPairs.push([headers[index] ?? '', headers[index + 1] ?? ''])
      }
      const options = { method, headers: headerPairs, signal, redirect: 'manual' } as const
      return toIncomingResponse(await fetch(url.href, body === undefined ? options : { ...options, body }))
    },
    close: async () => {},
  }
}

function toIncomingResponse(response: Response): IncomingResponse {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  const stop = (): void => {
    // Cancelling a stream that has ended or failed is of no interest to anybody.
    const cancelPromise = reader ? reader.cancel() : response.body?.cancel()
    cancelPromise?.catch(() => {})
  }
  return {
    status: response.type === 'opaqueredirect' ? 0 : response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    read: async (onChunk) => {
      reader = response.body?.getReader()
      try {
        for (
          let chunkResult = await reader?.read();
          chunkResult && !chunkResult.done;
          chunkResult = await reader?.read()
        )
          onChunk(chunkResult.value)
      } catch (error) {
        stop()
        throw error
      }
    },
    stop,
  }
}

/** HTTP methods of this revision and earlier ones. */
export type HttpMethod = 'POST' | 'GET' | 'DELETE'

export interface OutgoingRequest {
  readonly signal: AbortSignal
  readonly url: URL
  readonly method: HttpMethod
  /** Alternating names and values. */
  readonly headers: readonly string[]
  readonly body: string | undefined
}

/** A response whose body was not read yet. */
export interface IncomingResponse {
  readonly status: number
  /** By its name in lower case. */
  header(name: string): string | undefined
  /**
   * Passes every chunk to `onChunk`. Resolves when the body has ended. Rejects if the body breaks off or `onChunk`
   * throws.
   */
  read(onChunk: (chunk: Uint8Array) => void): Promise<void>
  /** Stops the response, even if its body was not read. */
  stop(): void
}

/** Sends HTTP requests with undici or with `fetch`, and never follows redirects. */
export interface Sender {
  send(outgoingRequest: OutgoingRequest): Promise<IncomingResponse>
  /** True if the platform decompresses bodies by itself, with any `Accept-Encoding`. */
  readonly isContentDecoded: boolean
  close(): Promise<void>
}

/** What the transport needs of `fetch`. */
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

/** Sends with `fetch`: in browsers and workers, or with one of the user that signs requests. */
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
    // Cancelling a stream that has ended or failed may reject, which is ignored.
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

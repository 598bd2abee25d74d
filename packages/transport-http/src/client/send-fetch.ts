import type { HttpMethod, IncomingResponse, Sender } from './sender.ts'

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
export function fetchSender(fetch: FetchFunction): Sender {
  return {
    isContentDecoded: true,
    send: async ({ url, method, headers, body, signal }) => {
      const headerPairs: [string, string][] = []
      for (let index = 0; index + 1 < headers.length; index += 2) {
        headerPairs.push([headers[index] ?? '', headers[index + 1] ?? ''])
      }
      const options = { method, headers: headerPairs, signal, redirect: 'manual' } as const
      return incomingOf(await fetch(url.href, body === undefined ? options : { ...options, body }))
    },
    close: async () => {},
  }
}

function incomingOf(response: Response): IncomingResponse {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  const stop = (): void => {
    // Cancelling a stream that has ended or failed is of no interest to anybody.
    const cancelPromise = reader ? reader.cancel() : response.body?.cancel()
    cancelPromise?.catch(() => {})
  }
  return {
    status: response.type === 'opaqueredirect' ? 0 : response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    read: async (take) => {
      reader = response.body?.getReader()
      try {
        for (
          let chunkResult = await reader?.read();
          chunkResult && !chunkResult.done;
          chunkResult = await reader?.read()
        )
          take(chunkResult.value)
      } catch (error) {
        stop()
        throw error
      }
    },
    stop,
  }
}

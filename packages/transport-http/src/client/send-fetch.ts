import type { HttpMethod, Incoming, Sender } from './send.ts'

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
    decodes: true,
    send: async ({ url, method, headers, body, signal }) => {
      const pairs: [string, string][] = []
      for (let index = 0; index + 1 < headers.length; index += 2) {
        pairs.push([headers[index] ?? '', headers[index + 1] ?? ''])
      }
      const options = { method, headers: pairs, signal, redirect: 'manual' } as const
      return incomingOf(await fetch(url.href, body === undefined ? options : { ...options, body }))
    },
    close: async () => {},
  }
}

function incomingOf(response: Response): Incoming {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  const stop = (): void => {
    // Cancelling a stream that has ended or failed is of no interest to anybody.
    const ended = reader ? reader.cancel() : response.body?.cancel()
    ended?.catch(() => {})
  }
  return {
    status: response.type === 'opaqueredirect' ? 0 : response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    read: async (take) => {
      reader = response.body?.getReader()
      try {
        for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) take(part.value)
      } catch (error) {
        stop()
        throw error
      }
    },
    stop,
  }
}

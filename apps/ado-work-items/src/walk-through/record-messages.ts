import { isJsonObject, type JsonObject } from '@x/schema'
import type { connectHttp } from '@x/transport-http/client'
import { readInstanceHeader } from '../fleet/instance-header.ts'
import type { Instance } from '../fleet/instance-meta.ts'

/** A JSON-RPC message in an HTTP request or response. */
export interface WireMessage {
  readonly sender: 'client' | 'server'
  readonly message: JsonObject
  /** The value of `state` (SEP-1685). */
  readonly state: string | undefined
  /** The instance that sent the message, if the response has the header `X-Instance`. */
  readonly instance: Instance | undefined
}

type Fetch = NonNullable<NonNullable<Parameters<typeof connectHttp>[1]>['fetch']>

/** Creates a `fetch` that passes each message to the listener before the client reads it. */
export function createRecordingFetch(onMessage: (message: WireMessage) => void): Fetch {
  const record = (sender: WireMessage['sender'], text: string, instance?: Instance): void => {
    const message: unknown = JSON.parse(text)
    if (!isJsonObject(message) || message['jsonrpc'] !== '2.0') return
    const { state } = message
    onMessage({ sender, message, state: typeof state === 'string' ? state : undefined, instance })
  }
  return async (url, options) => {
    if (options.body !== undefined) record('client', options.body)
    const response = await fetch(url, options)
    if (response.body === null) return response
    const instance = readInstanceHeader(response.headers)
    const type = response.headers.get('content-type') ?? ''
    const body = response.body.pipeThrough(createMessageReader(type, (text) => record('server', text, instance)))
    return new Response(body, { status: response.status, headers: response.headers })
  }
}

/** Creates a stream that forwards a body and passes the text of each message to the listener. */
function createMessageReader(type: string, onText: (text: string) => void): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  let text = ''
  return new TransformStream({
    transform(chunk, controller) {
      text += decoder.decode(chunk, { stream: true })
      if (type.startsWith('text/event-stream')) {
        const { events, rest } = decodeEvents(text)
        text = rest
        for (const { data } of events) onText(data)
      }
      controller.enqueue(chunk)
    },
    flush() {
      if (type.startsWith('application/json')) onText(text)
    },
  })
}

/** An event of an event stream that contains a message. */
export interface MessageEvent {
  readonly id: string
  readonly data: string
}

/** Decodes the complete events that have data. The rest belongs before the next text. */
export function decodeEvents(text: string): { readonly events: readonly MessageEvent[]; readonly rest: string } {
  const parts = text.split('\n\n')
  const rest = parts.pop() ?? ''
  const events = parts.map((part) => {
    const [, id = ''] = /^id: (.*)$/m.exec(part) ?? []
    const [, data = ''] = /^data: (.*)$/m.exec(part) ?? []
    return { id, data }
  })
  return { events: events.filter(({ data }) => data !== ''), rest }
}

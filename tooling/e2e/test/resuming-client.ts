import { setTimeout } from 'node:timers/promises'
import { isJsonObject, type JsonObject } from '@x/schema'

/** A client of 2025-11-25 that repeats unanswered requests and resumes its streams. */
export interface ResumingClient {
  /** Calls a tool, answers its questions, and resolves to the response. */
  call(tool: string, id: string, answer?: (message: string) => Promise<JsonObject>): Promise<JsonObject>
}

const maxAttempts = 60
const retryMs = 100

/** An event of a stream. An event without a message has undefined. */
interface ReceivedEvent {
  readonly id: string | undefined
  readonly message: JsonObject | undefined
}

/** Initializes a client with the elicitation capability. */
export async function connectResumingClient(url: string): Promise<ResumingClient> {
  const headers: Record<string, string> = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  }
  const post = (body: JsonObject): Promise<Response> =>
    fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const initialize = {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: {} },
      clientInfo: { name: 'chaos', version: '1.0.0' },
    },
  }
  const initialized = await post(initialize)
  headers['mcp-session-id'] = initialized.headers.get('mcp-session-id') ?? ''
  headers['mcp-protocol-version'] = '2025-11-25'
  let lastId = 0
  const resume = async (lastEvent: string): Promise<Response> => {
    const response = await fetch(url, { headers: { ...headers, 'last-event-id': lastEvent } })
    if (response.status === 200) return response
    throw new Error(`The stream ${lastEvent} is not resumed: ${response.status}`)
  }

  return {
    async call(tool, id, answer) {
      lastId += 1
      const params = { name: tool, arguments: { id }, _meta: { progressToken: lastId } }
      const request = { jsonrpc: '2.0', id: lastId, method: 'tools/call', params }
      const pendingAnswers = new Map<unknown, Promise<void>>()
      let response = await retry(() => post(request))
      let lastEvent = ''
      for (;;) {
        for await (const { id: eventId, message } of readEvents(response)) {
          lastEvent = eventId ?? lastEvent
          if (message === undefined) continue
          if (message['method'] === 'elicitation/create') ask(message, { answer, pendingAnswers, post })
          if (message['method'] !== undefined) continue
          await Promise.all(pendingAnswers.values())
          return message
        }
        // The connection broke, or the instance handed the call off.
        if (lastEvent === '') throw new Error(`The call ${id} broke off before its first event`)
        const after = lastEvent
        response = await retry(() => resume(after))
      }
    },
  }
}

interface QuestionContext {
  readonly answer: ((message: string) => Promise<JsonObject>) | undefined
  /** The pending answers, by the ids of their questions. */
  readonly pendingAnswers: Map<unknown, Promise<void>>
  readonly post: (body: JsonObject) => Promise<Response>
}

/** Answers a question once, and repeats the request until an instance accepts the answer. */
function ask({ id, params }: JsonObject, { answer, pendingAnswers, post }: QuestionContext): void {
  if (pendingAnswers.has(id)) throw new Error(`The question ${String(id)} was asked twice`)
  const send = async (): Promise<void> => {
    const result = (await answer?.(isJsonObject(params) ? String(params['message']) : '')) ?? { action: 'cancel' }
    await retry(async () => {
      const { status } = await post({ jsonrpc: '2.0', id: id ?? null, result })
      if (status !== 202 && status !== 400) throw new Error(`An answer was answered with ${status}`)
    })
  }
  pendingAnswers.set(id, send())
}

/** Reads the events of a stream until it ends or its connection breaks. */
async function* readEvents({ body, headers }: Response): AsyncGenerator<ReceivedEvent> {
  if (body === null || headers.get('content-type') !== 'text/event-stream') throw new Error('not a stream')
  let rest = ''
  try {
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + String(text)).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) yield parseEvent(block)
    }
  } catch {
    // The connection broke. The stream is resumed over another one.
  }
}

function parseEvent(block: string): ReceivedEvent {
  const fields = new Map(block.split('\n').map((line) => [line.split(':', 1)[0], line.slice(line.indexOf(': ') + 2)]))
  const message: unknown = JSON.parse(fields.get('data') || 'null')
  return { id: fields.get('id'), message: isJsonObject(message) ? message : undefined }
}

async function retry<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === maxAttempts) throw error
      await setTimeout(retryMs)
    }
  }
}

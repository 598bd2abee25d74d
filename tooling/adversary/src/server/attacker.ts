import { Agent, type IncomingMessage, request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isJsonObject, type JsonObject } from '@x/schema'
import type { Message } from '../requests.ts'
import type { Target } from '../target.ts'
import type { Endpoints } from './endpoints.ts'

/** The response to a message: its status, and the JSON of its body or of the last event of its stream. */
export interface Reply {
  readonly status: number
  readonly body: JsonObject
}

/** The client side of the connections to a server. */
export interface Attacker extends Disposable {
  readonly urls: Endpoints
  readonly target: Target
  /** Sends a message, and reads its response. */
  send(message: Message, url?: string): Promise<Reply>
  /** Opens a connection and writes to it. Only the caller reads from it. */
  open(parts: readonly (string | Buffer)[]): Socket
  /** Starts a request with a streamed response, and resolves when the headers have arrived. */
  stream(message: Message, url?: string): Promise<IncomingMessage>
}

/** Creates an attacker without connections. Its disposal closes all connections that it opened. */
export function createAttacker(target: Target, urls: Endpoints): Attacker {
  const agent = new Agent({ keepAlive: true, maxSockets: 2000 })
  const sockets: Socket[] = []
  const stream = (message: Message, url = urls.shop): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const options = {
        method: 'POST',
        agent,
        headers: { ...message.headers, 'content-length': Buffer.byteLength(message.body) },
      }
      // The headers of a message have the type of `node:http`, but are readonly.
      const sent = httpRequest(url, options as object, resolve)
      sent.on('error', reject)
      sent.end(message.body)
    })
  return {
    urls,
    target,
    stream,
    send: async (message, url) => {
      const response = await stream(message, url)
      let text = ''
      for await (const part of response.setEncoding('utf8')) text += part
      return { status: response.statusCode ?? 0, body: lastMessage(text) }
    },
    open: (parts) => {
      const socket = connect({ port: Number(new URL(urls.shop).port), host: '127.0.0.1' })
      sockets.push(socket)
      // A server may reject a connection with a reset.
      socket.on('error', () => {})
      for (const part of parts) socket.write(part)
      return socket
    },
    [Symbol.dispose]: () => {
      agent.destroy()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Formats a message as HTTP/1.1 for a raw connection. */
export function httpText({ body, headers }: Message): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const head = ['POST /mcp HTTP/1.1', 'host: 127.0.0.1', `content-length: ${Buffer.byteLength(body)}`, ...lines]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

/** Waits until a condition is true, and throws with its description after ten seconds. */
export async function waitUntil(description: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let wait = 0; wait < 1000; wait += 1) {
    if (await isTrue()) return
    await sleep(10)
  }
  throw new Error(`timeout after ten seconds: ${description}`)
}

function lastMessage(text: string): JsonObject {
  const data = text.startsWith('{')
    ? text
    : (text
        .trim()
        .split(/\n\n/)
        .at(-1)
        ?.replace(/^.*?data: /s, '') ?? '')
  const value: unknown = data.startsWith('{') ? JSON.parse(data) : undefined
  return isJsonObject(value) ? value : {}
}

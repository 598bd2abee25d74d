import { Agent, type IncomingMessage, request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isJsonObject, type JsonObject } from '@x/schema'
import type { Message } from '../requests.ts'
import type { Target } from '../target.ts'
import type { Endpoints } from './endpoints.ts'

/** The answer to a message: its status, and the JSON of its body, or that of the last event of its stream. */
export interface Reply {
  readonly status: number
  readonly body: JsonObject
}

/** The attacker's side of the connections to a server. */
export interface Attacker extends Disposable {
  readonly urls: Endpoints
  readonly target: Target
  /** Sends a message and reads its answer. */
  send(message: Message, url?: string): Promise<Reply>
  /** Opens a connection and writes to it; what the server answers is read only where the caller reads. */
  open(parts: readonly (string | Buffer)[]): Socket
  /** Starts a request whose answer streams, and resolves with the response once its head came. */
  stream(message: Message, url?: string): Promise<IncomingMessage>
}

/** Connects to nothing yet; the disposal closes every connection that was opened. */
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
      // The headers of a message are what `node:http` takes, but readonly.
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
      // A reset is one of the ways to be rejected.
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

/** The bytes of a message as HTTP/1.1, for connections that are written by hand. */
export function httpText({ body, headers }: Message): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const head = ['POST /mcp HTTP/1.1', 'host: 127.0.0.1', `content-length: ${Buffer.byteLength(body)}`, ...lines]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

/** Waits until a condition holds, and throws with `what` when it has not after ten seconds. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let wait = 0; wait < 1000; wait += 1) {
    if (await holds()) return
    await sleep(10)
  }
  throw new Error(`waited in vain for ${what}`)
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

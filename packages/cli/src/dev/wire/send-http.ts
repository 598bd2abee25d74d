import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'

/** With its whole body. */
export interface HttpRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly signal: AbortSignal
}

/**
 * Uses a socket of its own. `fetch` would use one of the process before the last restart, gives up after five minutes
 * without a byte, and does not say when a request was written.
 */
export function sendHttp({ url, method, headers, body, signal }: HttpRequest): {
  /** Resolves when the operating system has accepted the whole request. */
  readonly written: Promise<void>
  /** Resolves with the head of the response. */
  readonly response: Promise<IncomingMessage>
} {
  const send = url.startsWith('https:') ? requestHttps : requestHttp
  const outgoing = send(url, { method, headers, signal, agent: false })
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.on('error', reject)
  })
  const written = new Promise<void>((resolve) => {
    outgoing.once('finish', resolve)
    outgoing.once('close', resolve)
  })
  // A caller that waits for the writing alone does not see the error of the response.
  response.catch(() => {})
  outgoing.end(body)
  return { written, response }
}

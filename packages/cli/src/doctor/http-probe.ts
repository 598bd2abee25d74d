import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import { pageTextOf, parseJsonObject, quoteText } from '@x/core'
import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'
import { createParser } from 'eventsource-parser'

/** Differs from an ordinary request in one place. */
export interface ProbeRequest {
  readonly method?: 'POST' | 'GET' | 'OPTIONS'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  /** Connections to use. Default: one of its own, which is closed afterwards. */
  readonly agent?: Agent | undefined
  /** Milliseconds until the request is given up. */
  readonly timeoutMs?: number | undefined
  readonly signal: AbortSignal
  /** Called with each piece of the body, and its milliseconds since the request. Returns true to stop. */
  readonly onPiece?: ((text: string, ms: number) => boolean) | undefined
}

/** The answer to a probe, or the reason why there is none. */
export interface Reply {
  /** 0 if there was no answer. */
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** JSON-RPC message in the body, which may be an event stream. */
  readonly message: JsonObject | undefined
  /** Why there was no whole answer. */
  readonly failure: string | undefined
  readonly ms: number
  /** Local port of the connection. Two requests with the same one used one connection. */
  readonly localPort: number | undefined
}

const maxReplyLength = 4_000_000
const defaultTimeoutMs = 10_000

/** Never rejects: a connection that fails is a result of the check. */
export function sendHttpProbe(probe: ProbeRequest): Promise<Reply> {
  const { method = 'POST', url, headers, body, agent, timeoutMs = defaultTimeoutMs, signal } = probe
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  const startedAt = performance.now()
  return new Promise((resolve) => {
    let head: IncomingMessage | undefined
    let text = ''
    let localPort: number | undefined
    const finish = (failure?: string): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      const ms = performance.now() - startedAt
      const { statusCode: status = 0, headers: replyHeaders = {} } = head ?? {}
      const message = parseReply(text, replyHeaders['content-type'])
      resolve({ status, headers: replyHeaders, text, message, failure, ms, localPort })
      if (failure !== undefined || agent === undefined) request.destroy()
    }
    const request = send(url, { method, headers: { ...headers, ...lengthOf(body) }, agent: agent ?? false })
    const stop = (): void => finish('it was stopped')
    const timer = setTimeout(() => finish(`there is no answer after ${timeoutMs / 1000} s`), timeoutMs)
    signal.addEventListener('abort', stop, { once: true })
    request.on('socket', (socket) => socket.on('connect', () => (localPort = socket.localPort)))
    request.on('error', (error) => finish(head === undefined ? error.message : 'the connection was closed'))
    request.on('response', (response) => {
      head = response
      localPort ??= response.socket.localPort
      const decodedBody = decodeBody(response)
      decodedBody.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
        const isEnough = probe.onPiece?.(piece, performance.now() - startedAt) === true
        if (isEnough || text.length > maxReplyLength) {
          finish()
          request.destroy()
        }
      })
      decodedBody.on('end', () => finish())
      decodedBody.on('error', (error) => finish(error.message))
    })
    request.end(body)
  })
}

/** For a probe that accepts compression, as the `fetch` of hosts does. */
export const acceptedCompressions = 'gzip, br'

function decodeBody(response: IncomingMessage): Readable {
  const { 'content-encoding': encoding } = response.headers
  if (encoding !== 'gzip' && encoding !== 'br') return response
  const decoder = encoding === 'gzip' ? createGunzip() : createBrotliDecompress()
  response.on('error', (error) => decoder.destroy(error))
  return response.pipe(decoder)
}

function lengthOf(body: string | undefined): Readonly<Record<string, string>> {
  return body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
}

/** The body itself, or the response among the events of a stream. */
function parseReply(text: string, contentType = ''): JsonObject | undefined {
  if (!isEventStream({ 'content-type': contentType })) return parseJsonObject(text)
  let response: JsonObject | undefined
  const parser = createParser({
    onEvent: ({ data }) => {
      const message = parseJsonObject(data)
      if (message !== undefined && ('result' in message || 'error' in message)) response = message
    },
  })
  parser.feed(text)
  return response
}

export function isEventStream({ 'content-type': type = '' }: IncomingHttpHeaders): boolean {
  return type.startsWith('text/event-stream')
}

/** Undefined for an error, and for an answer that is no JSON-RPC. */
export function resultOf({ message }: Reply): JsonObject | undefined {
  const result: JsonValue | undefined = message?.['result']
  return isJsonObject(result) ? result : undefined
}

export function errorOf({
  message,
}: Reply): { readonly code: number; readonly message: string; data: JsonObject } | undefined {
  const error = message?.['error']
  if (!isJsonObject(error)) return undefined
  const { code, message: text, data } = error
  return {
    code: typeof code === 'number' ? code : 0,
    message: typeof text === 'string' ? text : '',
    data: isJsonObject(data) ? data : {},
  }
}

/** True for a status that says nothing about the request. 501 does: the server knows the request, and rejects it. */
export function isUnavailable({ status }: Reply): boolean {
  return status === 429 || (status >= 500 && status !== 501)
}

/** In a few words, for a finding. */
export function describeReply(reply: Reply): string {
  const { status, failure } = reply
  if (status === 0) return failure ?? 'there is no answer'
  const error = errorOf(reply)
  if (error !== undefined) return `${status}, error ${error.code}: ${error.message.slice(0, 200)}`
  if (resultOf(reply) !== undefined) return `${status} and a result`
  if (failure !== undefined) return `${status}, and then ${failure}`
  return `${status}${describeForeignAnswer(reply)}`
}

/** True for the page of a proxy or of a web site in place of an answer. */
export function isPage({ headers }: Reply): boolean {
  return headers['content-type']?.startsWith('text/html') === true
}

function describeForeignAnswer(reply: Reply): string {
  const { status, headers } = reply
  const { location } = headers
  // The query may have secrets, such as the state of a login.
  if (status >= 300 && status < 400 && location !== undefined)
    return `, a redirect to ${quoteText(location.replace(/[?#].*/s, ''))}`
  const pageText = isPage(reply) ? pageTextOf(reply.text).replaceAll(/\s+/g, ' ').trim() : ''
  return pageText === '' ? '' : ` and the page ${quoteText(pageText)}`
}

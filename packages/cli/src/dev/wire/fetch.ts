import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type JsonObject, parseJsonObject } from '@x/core'
import type { FetchFunction } from '@x/transport-http/client'
import type { HttpHead, MessageView } from '../events.ts'
import { protocolVersion } from '@x/schema'
import { type ArmedFault, alterRequest, noteOfCopy } from './fault.ts'
import { splitResponse } from './split-response.ts'
import { type HttpRequest, sendHttp } from './send-http.ts'
import { noteOfRequest } from './streams.ts'
import type { Wire } from './wire.ts'

/** A process of the server that answers over HTTP. */
export interface Instance {
  readonly url: URL
  readonly pid: number | undefined
  /** Ends it at once, as a crash would. */
  kill(): void
}

interface WireRequest {
  readonly request: HttpRequest
  readonly message: JsonObject | undefined
  readonly callId: number | undefined
  readonly fault: ArmedFault | undefined
  readonly pid: number | undefined
}

/**
 * Records every message, and disturbs a request with a fault. `next` says which instance answers the next request.
 * Undefined for a server that runs elsewhere.
 */
export function createWireFetch(
  wire: Wire,
  { next, otherToken }: { next(hasTurns: boolean): Instance | undefined; readonly otherToken: string | undefined },
): FetchFunction {
  return async (url, { method, headers, body, signal }) => {
    const message = body === undefined ? undefined : parseJsonObject(body)
    const { callId } = wire
    const { fault, altered } = takeFault(wire, message)
    // The question of an older revision is open in one process, so only requests of the current one take turns.
    const given = Object.fromEntries(headers)
    const instance = next(given['mcp-protocol-version'] === protocolVersion)
    const request: HttpRequest = {
      url: instance?.url.href ?? url,
      method,
      headers: { ...given, 'accept-encoding': 'identity', ...otherUserHeaders(fault, otherToken) },
      body: altered === message ? body : JSON.stringify(altered),
      signal,
    }
    const wireRequest: WireRequest = { request, message, callId, fault, pid: instance?.pid }
    recordHttpRequest(wire, wireRequest, noteOfRequest(fault))
    const { response, written } = sendHttp(request)
    if (fault?.kind === 'kill') await killDuring(written, instance)
    return toResponse(await response, (incoming) => passMessages(wire, wireRequest, incoming))
  }
}

function takeFault(
  wire: Wire,
  message: JsonObject | undefined,
): { readonly fault: ArmedFault | undefined; readonly altered: JsonObject | undefined } {
  const fault = message && wire.take(wire.callId, message)
  return { fault, altered: message && alterRequest(message, fault?.kind) }
}

async function killDuring(written: Promise<void>, instance: Instance | undefined): Promise<never> {
  await written
  instance?.kill()
  // A server that was faster than the signal has answered, and its response is lost all the same.
  throw lostError('the process was killed')
}

function otherUserHeaders(
  fault: ArmedFault | undefined,
  otherToken: string | undefined,
): Readonly<Record<string, string>> {
  return fault?.kind === 'user' && otherToken !== undefined ? { authorization: `Bearer ${otherToken}` } : {}
}

/** Like that of a broken connection, so that the client does what it does in production. */
function lostError(reason: string): Error {
  return Object.assign(new Error(`mcpx dev: ${reason}`), { code: 'ECONNRESET' })
}

function toResponse(
  incoming: IncomingMessage,
  read: (incoming: IncomingMessage) => AsyncIterable<Uint8Array>,
): Response {
  const { statusCode = 500 } = incoming
  const headers = new Headers()
  for (const [name, values] of Object.entries(incoming.headersDistinct))
    for (const value of values ?? []) headers.append(name, value)
  const hasBody = statusCode !== 204 && statusCode !== 205 && statusCode !== 304
  const body = read(incoming)
  return new Response(hasBody ? body : null, { status: statusCode, headers })
}

async function* passMessages(
  wire: Wire,
  wireRequest: WireRequest,
  incoming: IncomingMessage,
): AsyncGenerator<Uint8Array> {
  let http: HttpHead | undefined = headOf(incoming)
  try {
    for await (const { raw, text } of splitResponse(incoming)) {
      const isLast = text !== undefined && isResponseTo(wireRequest, text)
      if (text !== undefined)
        recordHttpResponse(wire, wireRequest, {
          text,
          http,
          note: isLast ? noteOfResponse(wireRequest.fault) : undefined,
        })
      http = text === undefined ? http : undefined
      if (isLast) await meetFault(wire, wireRequest, text)
      yield raw
    }
    if (http !== undefined) recordHttpResponse(wire, wireRequest, { text: '', http, note: undefined })
  } finally {
    incoming.destroy()
  }
}

function isResponseTo({ message }: WireRequest, text: string): boolean {
  const response = parseJsonObject(text)
  return response !== undefined && !('method' in response) && response['id'] === message?.['id']
}

function noteOfResponse(fault: ArmedFault | undefined): string | undefined {
  if (fault?.kind === 'lose') return 'lost: the client never sees it'
  return fault?.kind === 'later' ? `held for ${fault.delayMs} ms` : undefined
}

async function meetFault(wire: Wire, wireRequest: WireRequest, text: string): Promise<void> {
  const { fault, request } = wireRequest
  if (fault?.kind === 'lose') throw lostError('the response was lost')
  if (fault?.kind === 'later') await sleep(fault.delayMs, undefined, { signal: request.signal })
  if (fault?.kind === 'twice') await sendCopy(wire, wireRequest, text)
}

/** The copy's response ends at a question, because the client does not know of the copy. */
async function sendCopy(wire: Wire, wireRequest: WireRequest, first: string): Promise<void> {
  recordHttpRequest(wire, wireRequest, 'the same request again')
  const incoming = await sendHttp(wireRequest.request).response
  let http: HttpHead | undefined = headOf(incoming)
  try {
    for await (const { text } of splitResponse(incoming)) {
      if (text === undefined) continue
      recordHttpResponse(wire, wireRequest, { text, http, note: noteOfCopy(first, text) })
      http = undefined
      if ('id' in (parseJsonObject(text) ?? {})) return
    }
  } finally {
    incoming.destroy()
  }
}

const secretHeaders: ReadonlySet<string> = new Set(['authorization', 'cookie', 'set-cookie', 'dpop'])

function withoutSecrets(headers: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secretHeaders.has(name) ? '(left out)' : String(value)]),
  )
}

function headOf({ statusCode, headers }: IncomingMessage): HttpHead {
  return { url: undefined, method: undefined, status: statusCode, headers: withoutSecrets(headers) }
}

function recordHttpRequest(wire: Wire, { request, callId, pid }: WireRequest, note: string | undefined): void {
  const http = { url: request.url, method: request.method, status: undefined, headers: withoutSecrets(request.headers) }
  wire.record({ callId, direction: 'sent', transport: 'http', pid, text: request.body ?? '', http, note })
}

function recordHttpResponse(
  wire: Wire,
  { callId, pid }: WireRequest,
  message: Pick<MessageView, 'text' | 'http' | 'note'>,
): void {
  wire.record({ callId, direction: 'received', transport: 'http', pid, ...message })
}

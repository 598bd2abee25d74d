import { type JsonObject, metaKeys, protocolVersion } from '@x/schema'
import { olderInitializeRequest } from '@x/exchange/internal'
import { type Finding, type RpcProbe, skipped, type Target } from './check.ts'
import { describeReply, isPage, isUnavailable, type Reply, sendHttpProbe } from './http-probe.ts'

type Place = Pick<Target, 'url' | 'token' | 'signal' | 'send'>

/** Each server of revision 2026-07-28 serves it. */
export const discoverProbe: RpcProbe = { method: 'server/discover' }

/** Each server of an older revision serves it. */
export const initializeProbe: RpcProbe = {
  method: olderInitializeRequest.method,
  body: JSON.stringify(olderInitializeRequest),
  headers: { 'mcp-protocol-version': undefined, 'mcp-method': undefined },
}

export function sendRpc(place: Place, probe: RpcProbe): Promise<Reply> {
  if (place.send !== undefined) return place.send(probe)
  const headers = headersOf(place, { ...ordinaryHeaders(probe), ...probe.headers })
  const { url, signal } = place
  return sendHttpProbe({ url, signal, headers, body: probeBodyOf(probe), ...probe.http })
}

/**
 * Undefined if the reply is one to the request itself. An error of the server is that if the server still serves its
 * ordinary request. Otherwise the reply is one of an outage, an overload or a limit, and the check could not be made.
 */
export async function findOutage(target: Target, reply: Reply): Promise<Finding | undefined> {
  if (!isUnavailable(reply)) return undefined
  const isLimited = reply.status === 429
  const ordinary = target.served === undefined || isLimited ? reply : await sendRpc(target, target.served)
  return isUnavailable(ordinary) ? unavailable('The server', ordinary) : undefined
}

export function unavailable(subject: string, reply: Reply): Finding {
  return skipped(`${subject} cannot answer now: ${describeReply(reply)}.`)
}

/** What to change after an answer that is wrong, or the page of a proxy in its place. */
export function remedyAfter(reply: Reply, remedy: string): string {
  if (!isPage(reply)) return remedy
  return 'Let the proxy pass on the errors of the server, and no page in their place (nginx: proxy_intercept_errors off).'
}

/** JSON text. Its params are an object. */
export function probeBodyOf({ method, params = {}, version = protocolVersion, id = 1, body }: RpcProbe): string {
  return body ?? JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: metaOf(version) } })
}

/** A request with another method than POST, or to another path of the same server. */
export function sendPlain(
  { token, signal }: Place,
  request: { readonly method: 'GET' | 'OPTIONS'; readonly url: URL; readonly headers?: Record<string, string> },
): Promise<Reply> {
  const headers = headersOf({ token }, { accept: 'application/json', ...request.headers })
  return sendHttpProbe({ ...request, signal, headers })
}

function ordinaryHeaders({ method, params, version = protocolVersion }: RpcProbe): Readonly<Record<string, string>> {
  const name = params?.['name'] ?? params?.['uri']
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
  }
}

function headersOf(
  { token }: Pick<Target, 'token'>,
  headers: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const all = { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers }
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

function metaOf(version: string): JsonObject {
  return {
    [metaKeys.protocolVersion]: version,
    [metaKeys.clientInfo]: { name: 'mcpx doctor', version: '1.0.0' },
    [metaKeys.clientCapabilities]: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
  }
}

import { quoteText } from '@x/core'
import type { HttpErrorResponse, ServerEvents } from '@x/exchange'
import {
  errorCodes,
  protocolVersion,
  decodeHeaderValue,
  isJsonObject,
  isRequest,
  McpError,
  metaKeys,
  findMethodRow,
  type RpcNotification,
  type RpcRequest,
} from '@x/schema'
import { findRevisionError } from '@x/exchange/internal'
import { createCorsHeaders, answerPreflight } from './cors.ts'
import { findDocumentAnswer } from './documents.ts'
import { isHostAllowed, parseHost } from './hosts.ts'
import { isOriginAllowed } from './origins.ts'
import type { HttpAnswer, RequestView } from './http-adapter.ts'
import { createErrorAnswer } from './reply.ts'

import type { HandlerSettings } from './handler-settings.ts'

type Refusal = ServerEvents['request_refused']['reason']

/**
 * Either an answer that ends the request, with the check that rejected it as `refusal`, or headers for every answer to
 * it, as alternating names and values.
 */
type RequestCheckResult =
  | { readonly answer: HttpAnswer; readonly refusal?: Refusal | undefined }
  | { readonly headers: readonly string[] }

/**
 * Checks the host, origin, method and media types of a request before its body is read. Besides POST, the methods in
 * `adapterMethods` are allowed.
 */
export function checkRequest<Source>(
  view: RequestView<Source>,
  settings: HandlerSettings<Source>,
  adapterMethods: readonly string[] = [],
): RequestCheckResult {
  const documentResponse = view.method === 'POST' ? undefined : findDocumentAnswer(settings.documents, view)
  if (documentResponse !== undefined) return { answer: documentResponse }
  const foreignRejection = rejectForeignRequest(view, settings)
  if (foreignRejection !== undefined)
    return { answer: createErrorAnswer(foreignRejection, []), refusal: foreignRejection.refusal }
  const origin = view.header('origin')
  const { cors } = settings
  const isForPage = cors !== undefined && origin !== undefined
  if (isForPage && view.method === 'OPTIONS') return { answer: answerPreflight(cors, origin, view) }
  const headers = isForPage ? createCorsHeaders(cors, origin) : []
  const rejection = rejectUnsupportedMethodOrType(view, settings, adapterMethods)
  return rejection === undefined
    ? { headers }
    : { answer: createErrorAnswer(rejection, headers), refusal: refusalOf(rejection) }
}

function refusalOf({ status }: HttpErrorResponse): Refusal {
  return status === 405 ? 'headers' : 'media_type'
}

// basic/transports/streamable-http, security: a page that uses DNS rebinding sends a wrong `Host`, and any other
// foreign page a wrong `Origin`. The operator's log has the wrong value; the response names only the option.
function rejectForeignRequest<Source>(
  view: RequestView<Source>,
  settings: HandlerSettings<Source>,
): (HttpErrorResponse & { readonly refusal: Refusal }) | undefined {
  let refusal: Refusal = 'host'
  const createRejection = (status: number, message: string, reason: string) => {
    settings.reportRejection(`A request was rejected with status ${status}: ${reason}`, view)
    return { status, message, refusal }
  }
  const hostHeader = view.header('host')
  const quotedHost = quoteText(hostHeader ?? '')
  // RFC 9112, section 3.2: two programs may choose different hosts if a request has two. On platforms that join the
  // values, a comma indicates several.
  if (view.headerValues('host').length > 1 || hostHeader?.includes(',') === true) {
    const joinedHosts = view.headerValues('host').join(', ')
    return createRejection(400, 'A request has one Host', `it has more than one Host, ${quoteText(joinedHosts)}`)
  }
  const host = hostHeader === undefined ? undefined : parseHost(hostHeader)
  if (host === undefined || !isHostAllowed(host, settings.hosts)) {
    const message =
      "The Host is not served here: it must be in allowedHosts, which may be '*' behind a proxy that checks it"
    return createRejection(403, message, `its Host ${quotedHost} is not in allowedHosts`)
  }
  const origin = view.header('origin')
  if (origin === undefined || isOriginAllowed(origin, host, settings)) return undefined
  refusal = 'origin'
  const message = 'The Origin is not one that may call here: it must be in allowedOrigins'
  return createRejection(
    403,
    message,
    `its Origin ${quoteText(origin)} is not in allowedOrigins, and its Host is ${quotedHost}`,
  )
}

/**
 * Rejects an HTTP method. Clients of earlier revisions send GET and DELETE, and some show their users only this
 * message, so it names `supportedVersions` (basic/versioning, compatibility).
 */
export function methodNotAllowedResponse(
  { method, header }: RequestView,
  allowedMethods: readonly string[],
  supportedVersions: readonly string[],
): HttpErrorResponse {
  const responseHead = { status: 405, headers: { Allow: allowedMethods.join(', ') } }
  const requestedVersion = header('mcp-protocol-version')
  if (allowedMethods.length > 1 || !olderTransportMethods.has(method) || requestedVersion === protocolVersion)
    return { ...responseHead, message: `${method} is not served here: send a POST` }
  const versionNote = requestedVersion === undefined ? '' : `; the client opened with ${requestedVersion.slice(0, 100)}`
  return {
    ...responseHead,
    code: errorCodes.unsupportedProtocolVersion,
    message: `${method} is not served here: this server speaks only MCP ${supportedVersions.join(', ')}${versionNote}`,
    data: { supported: supportedVersions, ...(requestedVersion !== undefined && { requested: requestedVersion }) },
  }
}

const olderTransportMethods: ReadonlySet<string> = new Set(['GET', 'DELETE'])

function rejectUnsupportedMethodOrType(
  view: RequestView,
  { supportedVersions }: { readonly supportedVersions: readonly string[] },
  adapterMethods: readonly string[],
): HttpErrorResponse | undefined {
  if (adapterMethods.includes(view.method)) return undefined
  if (view.method !== 'POST') return methodNotAllowedResponse(view, ['POST', ...adapterMethods], supportedVersions)
  if (!isJsonMediaType(view.header('content-type'))) {
    return { status: 415, message: 'The Content-Type must be application/json' }
  }
  const encoding = view.header('content-encoding')
  if (encoding !== undefined && encoding !== 'identity') {
    return { status: 415, message: 'The body must not have a Content-Encoding' }
  }
  if (acceptsJsonAndEventStream(view.header('accept'))) return undefined
  return { status: 406, message: 'The Accept must allow application/json and text/event-stream' }
}

const jsonMediaType = 'application/json'
const requiredMediaTypes = 'application/json, text/event-stream'

/**
 * Accepts JSON in UTF-8 alone. A type that a form can send, such as `text/plain`, would let a browser call us for a
 * foreign page without a preflight request.
 */
function isJsonMediaType(contentType: string | undefined): boolean {
  if (contentType === jsonMediaType) return true
  if (contentType === undefined) return false
  const [type, ...parameters] = contentType.toLowerCase().split(';')
  if (type?.trim() !== jsonMediaType) return false
  return parameters.every((parameter) => {
    const [name, value] = parameter.split('=')
    return name?.trim() !== 'charset' || value?.trim().replaceAll('"', '') === 'utf-8'
  })
}

/**
 * True if `Accept` allows both JSON and event streams. Without the header, everything is allowed (RFC 9110, section
 * 12.5.1).
 */
function acceptsJsonAndEventStream(accept: string | undefined): boolean {
  if (accept === undefined || accept === requiredMediaTypes) return true
  const weights = parseAcceptWeights(accept)
  return acceptsType(weights, 'application', 'json') && acceptsType(weights, 'text', 'event-stream')
}

function parseAcceptWeights(accept: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';')
    const quality = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('q='))
    weights.set(type.trim(), quality === undefined ? 1 : Number(quality.slice(2)))
  }
  return weights
}

function acceptsType(weights: ReadonlyMap<string, number>, type: string, subtype: string): boolean {
  const weight = weights.get(`${type}/${subtype}`) ?? weights.get(`${type}/*`) ?? weights.get('*/*') ?? 0
  return weight > 0
}

/**
 * Checks the headers that repeat values of the body for intermediaries (basic/transports/streamable-http, server
 * validation). `Mcp-Param-*` is left to the MCP server, because only it has the schemas of the tools.
 *
 * Versions are compared before they are validated. Only requests of this revision, which defines them, must have the
 * other headers; but wherever headers are present they must match, also in a notification.
 *
 * Errors name the revisions in `supportedVersions`.
 *
 * @throws McpError `headerMismatch`. Throws `unsupportedProtocolVersion` if the header names an earlier revision and
 * the body names none, because clients of those revisions send such requests.
 */
export function checkHeadersMatchBody(
  view: RequestView,
  message: RpcRequest | RpcNotification,
  supportedVersions: readonly string[] = [protocolVersion],
): void {
  const version = checkVersionHeader(view, message, supportedVersions)
  const isRequired = version === protocolVersion && isRequest(message)
  checkMethodHeader(view.header('mcp-method'), message.method, isRequired)
  const targetParam = findMethodRow(message.method)?.targetParam
  if (targetParam !== undefined) checkNameHeader(view.header('mcp-name'), message.params?.[targetParam], isRequired)
}

function checkVersionHeader(
  view: RequestView,
  message: RpcRequest | RpcNotification,
  supportedVersions: readonly string[],
): string | undefined {
  const headerVersion = view.header('mcp-protocol-version')
  const bodyVersion = readBodyVersion(message)
  if (headerVersion === bodyVersion) {
    // basic/versioning: a client of an earlier revision sends neither the header nor the member in the body. It may
    // show its user only this message.
    if (headerVersion === undefined && isRequest(message))
      throw findRevisionError(message, supportedVersions) ?? missingVersionError(supportedVersions)
    return headerVersion
  }
  if (headerVersion === undefined) {
    if (isRequest(message)) throw missingVersionError(supportedVersions)
    return undefined
  }
  if (bodyVersion !== undefined) throw headerMismatchError('MCP-Protocol-Version', headerVersion, bodyVersion)
  if (headerVersion !== protocolVersion && isRequest(message))
    throw unsupportedProtocolError(headerVersion, supportedVersions)
  return headerVersion
}

function readBodyVersion(message: RpcRequest | RpcNotification): string | undefined {
  const meta = message.params?._meta
  const version = isJsonObject(meta) ? meta[metaKeys.protocolVersion] : undefined
  return typeof version === 'string' ? version : undefined
}

function checkMethodHeader(header: string | undefined, method: string, isRequired: boolean): void {
  if (header === method) return
  if (header !== undefined) throw headerMismatchError('Mcp-Method', header, method)
  if (isRequired) throw missingHeaderError('Mcp-Method', method)
}

function checkNameHeader(header: string | undefined, bodyName: unknown, isRequired: boolean): void {
  if (header === undefined) {
    // Params without a name require no header. The MCP server rejects them with a precise error.
    if (isRequired && typeof bodyName === 'string') throw missingHeaderError('Mcp-Name', bodyName)
    return
  }
  const name = decodeHeaderValue(header)
  if (name === undefined) {
    throw new McpError(
      errorCodes.headerMismatch,
      `Mcp-Name is ${quoteText(header)}, which has invalid characters: send visible ASCII, or =?base64?…?= around Base64`,
    )
  }
  if (name !== bodyName)
    throw headerMismatchError('Mcp-Name', name, typeof bodyName === 'string' ? bodyName : undefined)
}

function headerMismatchError(name: string, header: string, body: string | undefined): McpError {
  const bodyStatement = body === undefined ? 'the body has no such value' : `the body says ${quoteText(body)}`
  return new McpError(errorCodes.headerMismatch, `${name} is ${quoteText(header)}, ${bodyStatement}`)
}

function missingHeaderError(name: string, body: string): McpError {
  return new McpError(errorCodes.headerMismatch, `${name} is missing: it must repeat ${quoteText(body)} of the body`)
}

function missingVersionError(supported: readonly string[]): McpError {
  return new McpError(
    errorCodes.headerMismatch,
    `MCP-Protocol-Version is missing: this server speaks ${supported.join(', ')}, and a request of ${protocolVersion} says so in this header and in _meta`,
    { data: { supported } },
  )
}

function unsupportedProtocolError(requestedVersion: string, supported: readonly string[]): McpError {
  return new McpError(
    errorCodes.unsupportedProtocolVersion,
    `Protocol version ${quoteText(requestedVersion)} is not served here: this server speaks ${supported.join(', ')}`,
    { data: { supported, requested: requestedVersion } },
  )
}

import { type Call, callHeadersKey, headerParamsKey } from '@x/exchange'
import { encodeHeaderValue, isJsonObject, metaKeys, findMethodRow, type RpcRequest } from '@x/schema'
import type { HttpHeaders } from './options.ts'

const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// RFC 9110, field values: visible characters, with spaces and tabs between them. CR, LF and NUL are not allowed.
const fieldValuePattern = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/

const reservedHeaders = new Set(
  (
    'accept accept-encoding content-type content-length content-encoding host connection keep-alive transfer-encoding te ' +
    'trailer upgrade expect proxy-connection mcp-protocol-version mcp-method mcp-name'
  ).split(' '),
)
const paramHeaderPrefix = 'mcp-param-'

// Asks for uncompressed responses, because a small compressed body may expand to a large one.
const fixedProtocolHeaders = ['accept', 'application/json, text/event-stream', 'accept-encoding', 'identity']
const bodyHeaders = ['content-type', 'application/json']

/**
 * Checks the user's headers, and flattens them to alternating names and values. Throws a `TypeError` that names the
 * invalid header but not its value, which is often a secret.
 */
export function flattenUserHeaders(headers: HttpHeaders): readonly string[] {
  if (typeof headers !== 'object' || headers === null)
    throw new TypeError('headers must be an object of names and values, or a function that returns one')
  const flatHeaders: string[] = []
  for (const [name, value] of Object.entries(headers)) {
    const lowerCaseName = name.toLowerCase()
    if (!tokenPattern.test(name)) throw new TypeError(`The header name ${JSON.stringify(name)} is not an HTTP token`)
    if (reservedHeaders.has(lowerCaseName) || lowerCaseName.startsWith(paramHeaderPrefix)) {
      throw new TypeError(`The header ${name} is written by the transport and cannot be set`)
    }
    flatHeaders.push(lowerCaseName, checkHeaderValue(name, value))
  }
  return flatHeaders
}

/**
 * Puts together the headers of one request: media types, those that repeat values of the body, and the user's
 * (basic/transports/streamable-http, request metadata).
 */
export function createRequestHeaders(
  request: RpcRequest,
  call: Call,
  userHeaders: readonly string[],
): readonly string[] {
  const headers = [...fixedProtocolHeaders, ...bodyHeaders]
  const meta = request.params?._meta
  const version = isJsonObject(meta) ? meta[metaKeys.protocolVersion] : undefined
  if (typeof version === 'string')
    headers.push('mcp-protocol-version', checkHeaderValue('MCP-Protocol-Version', version))
  headers.push('mcp-method', checkHeaderValue('Mcp-Method', request.method))
  const name = readTargetName(request)
  if (name !== undefined) headers.push('mcp-name', encodeHeaderValue(name))
  call.context.get(headerParamsKey)?.forEach((value, parameter) => {
    if (!tokenPattern.test(parameter))
      throw new TypeError(`Mcp-Param-${JSON.stringify(parameter)} is not an HTTP token`)
    headers.push(paramHeaderPrefix + parameter.toLowerCase(), checkHeaderValue(`Mcp-Param-${parameter}`, value))
  })
  call.context.get(callHeadersKey)?.forEach((value, name) => {
    const repeatedHeader = normalizeHeaderName(name, request)
    if (repeatedHeader !== undefined) headers.push(repeatedHeader, checkHeaderValue(name, value))
  })
  headers.push(...userHeaders)
  return headers
}

/** Puts together the headers for an earlier revision: media types, those of this request, and the user's. */
export function createPlainHeaders(
  headers: HttpHeaders,
  userHeaders: readonly string[],
  hasBody: boolean,
): readonly string[] {
  const flatHeaders = hasBody ? [...fixedProtocolHeaders, ...bodyHeaders] : [...fixedProtocolHeaders]
  for (const [name, value] of Object.entries(headers)) {
    if (!tokenPattern.test(name)) throw new TypeError(`The header name ${JSON.stringify(name)} is not an HTTP token`)
    flatHeaders.push(name.toLowerCase(), checkHeaderValue(name, value))
  }
  flatHeaders.push(...userHeaders)
  return flatHeaders
}

/**
 * Lower case, or undefined for a header that the transport itself writes. In a proxy, the call's context contains all
 * headers of the forwarded request, and those must not replace ours.
 */
function normalizeHeaderName(name: string, { method }: RpcRequest): string | undefined {
  const lowerCaseName = name.toLowerCase()
  if (!lowerCaseName.startsWith('mcp-') || !tokenPattern.test(name)) {
    throw new TypeError(`${JSON.stringify(name)} is not a header that an exchange may write: begin its name with Mcp-`)
  }
  // For a method of an extension, the transport does not know the value of `Mcp-Name`, so the context's is sent.
  if (lowerCaseName === 'mcp-name' && findMethodRow(method)?.targetParam === undefined) return lowerCaseName
  return reservedHeaders.has(lowerCaseName) || lowerCaseName.startsWith(paramHeaderPrefix) ? undefined : lowerCaseName
}

/** For errors: the method, and the name or URI of its target. */
export function describeOperation(request: RpcRequest): string {
  const name = readTargetName(request)
  return name === undefined ? request.method : `${request.method} ${name}`
}

function readTargetName(request: RpcRequest): string | undefined {
  const targetParam = findMethodRow(request.method)?.targetParam
  const value = targetParam === undefined ? undefined : request.params?.[targetParam]
  return typeof value === 'string' ? value : undefined
}

function checkHeaderValue(name: string, value: string): string {
  if (typeof value === 'string' && fieldValuePattern.test(value)) return value
  throw new TypeError(`The value for the header ${name} must be text without control characters or spaces around it`)
}

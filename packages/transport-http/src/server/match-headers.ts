import {
  decodeHeaderValue,
  errorCodes,
  isJsonObject,
  isRequest,
  McpError,
  metaKeys,
  methodRow,
  olderClientError,
  protocolVersion,
  type RpcNotification,
  type RpcRequest,
} from '@x/schema'
import type { RequestView } from './request-view.ts'

/**
 * Holds the headers against the body, which they repeat for those on the way who do not read it
 * (basic/transports/streamable-http, server validation). Arguments in `Mcp-Param-*` are the server's to check, because
 * only it knows the tool's schema.
 *
 * The version is compared before anybody judges it, and the other headers are required only of this revision, which
 * defines them; where they came they have to match, in a notification too.
 *
 * @throws McpError `headerMismatch`; or `unsupportedProtocolVersion` for a request that names an earlier revision in the
 * header and none in the body, as those revisions do.
 */
export function matchHeaders(view: RequestView, message: RpcRequest | RpcNotification): void {
  const version = matchVersion(view, message)
  const required = version === protocolVersion && isRequest(message)
  matchMethod(view.header('mcp-method'), message.method, required)
  const field = methodRow(message.method)?.named
  if (field !== undefined) matchName(view.header('mcp-name'), message.params?.[field], required)
}

function matchVersion(view: RequestView, message: RpcRequest | RpcNotification): string | undefined {
  const header = view.header('mcp-protocol-version')
  const stated = statedVersion(message)
  if (header === stated) {
    // basic/versioning: clients of earlier revisions send neither and can show their users nothing but this sentence.
    if (header === undefined && isRequest(message)) throw olderClientError(message) ?? missingVersion()
    return header
  }
  if (header === undefined) {
    if (isRequest(message)) throw missingVersion()
    return undefined
  }
  if (stated !== undefined) throw headerMismatchError('MCP-Protocol-Version', header, stated)
  if (header !== protocolVersion && isRequest(message)) throw unsupported(header)
  return header
}

function statedVersion(message: RpcRequest | RpcNotification): string | undefined {
  const meta = message.params?._meta
  const version = isJsonObject(meta) ? meta[metaKeys.protocolVersion] : undefined
  return typeof version === 'string' ? version : undefined
}

function matchMethod(header: string | undefined, method: string, required: boolean): void {
  if (header === method) return
  if (header !== undefined) throw headerMismatchError('Mcp-Method', header, method)
  if (required) throw missing('Mcp-Method', method)
}

function matchName(header: string | undefined, value: unknown, required: boolean): void {
  if (header === undefined) {
    // Without a name in the body there is nothing to repeat; the server says what is wrong with such params.
    if (required && typeof value === 'string') throw missing('Mcp-Name', value)
    return
  }
  const name = decodeHeaderValue(header)
  if (name === undefined) {
    throw new McpError(
      errorCodes.headerMismatch,
      `Mcp-Name is ${quoteHeaderValue(header)}, which has invalid characters: send visible ASCII, or =?base64?…?= around Base64`,
    )
  }
  if (name !== value) throw headerMismatchError('Mcp-Name', name, typeof value === 'string' ? value : undefined)
}

function headerMismatchError(name: string, header: string, body: string | undefined): McpError {
  const says = body === undefined ? 'the body has no such value' : `the body says ${quoteHeaderValue(body)}`
  return new McpError(errorCodes.headerMismatch, `${name} is ${quoteHeaderValue(header)}, ${says}`)
}

function missing(name: string, body: string): McpError {
  return new McpError(
    errorCodes.headerMismatch,
    `${name} is missing: it has to repeat ${quoteHeaderValue(body)} of the body`,
  )
}

function missingVersion(): McpError {
  return new McpError(
    errorCodes.headerMismatch,
    `MCP-Protocol-Version is missing: this server speaks ${protocolVersion}, and a request says so in this header and in _meta`,
    { data: { supported: [protocolVersion] } },
  )
}

function unsupported(requested: string): McpError {
  return new McpError(
    errorCodes.unsupportedProtocolVersion,
    `Protocol version ${quoteHeaderValue(requested)} is not served here: this server speaks ${protocolVersion}`,
    { data: { supported: [protocolVersion], requested } },
  )
}

const shownCharacters = 100

function quoteHeaderValue(value: string): string {
  return JSON.stringify(value.length > shownCharacters ? `${value.slice(0, shownCharacters)}…` : value)
}

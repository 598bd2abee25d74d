import { encodeMessage, errorCodes, type JsonObject } from '@x/schema'
import type { HttpAnswer, RequestView } from './http-adapter.ts'

/** A fixed JSON document that every client may read, such as the metadata of a protected resource (RFC 9728). */
export interface HttpDocument {
  readonly body: JsonObject
  /** Seconds for which caches may store the document. Default: 1 hour. */
  readonly maxAge?: number | undefined
}

/** Documents by their paths, such as `/.well-known/oauth-protected-resource`. */
export type HttpDocuments = Readonly<Record<string, HttpDocument>>

/** Answers to GET requests, by path. */
export type CompiledDocuments = ReadonlyMap<string, HttpAnswer>

const defaultMaxAgeSeconds = 3600
const anyOriginHeaders = ['Access-Control-Allow-Origin', '*']
const allowedMethods = 'GET, HEAD, OPTIONS'

/**
 * Serializes documents, so that this is done once.
 *
 * @throws TypeError for a path that does not begin with a slash, and for a body that is not JSON.
 */
export function compileDocuments(documents: HttpDocuments | undefined): CompiledDocuments | undefined {
  const entries = Object.entries(documents ?? {})
  return entries.length === 0 ? undefined : new Map(entries.map(compileDocument))
}

function compileDocument([path, { body, maxAge = defaultMaxAgeSeconds }]: [string, HttpDocument]): [
  string,
  HttpAnswer,
] {
  if (!path.startsWith('/'))
    throw new TypeError(`documents has ${JSON.stringify(path)}: write a path such as "/.well-known/name"`)
  const headers = [
    ...anyOriginHeaders,
    'Cache-Control',
    `public, max-age=${maxAge}`,
    'X-Content-Type-Options',
    'nosniff',
  ]
  return [path, { status: 200, headers, body: JSON.stringify(body) }]
}

/**
 * Answers a request for one of the documents. Undefined for any other path. They are public, so pages of every origin
 * may read them, with any `Host`.
 */
export function findDocumentAnswer(
  documents: CompiledDocuments | undefined,
  view: RequestTarget,
): HttpAnswer | undefined {
  const documentResponse = documents?.get(pathOf(view.url))
  if (documentResponse === undefined) return undefined
  if (view.method === 'GET' || view.method === 'HEAD') return documentResponse
  // With the header `MCP-Protocol-Version`, a browser sends a preflight request first.
  const preflightHeaders = ['Access-Control-Allow-Methods', allowedMethods, 'Access-Control-Allow-Headers', '*']
  if (view.method === 'OPTIONS') return { status: 204, headers: [...anyOriginHeaders, ...preflightHeaders] }
  const error = { code: errorCodes.invalidRequest, message: `${view.method} is not served here: send a GET` }
  return { status: 405, headers: ['Allow', allowedMethods], body: encodeMessage({ jsonrpc: '2.0', error }) }
}

type RequestTarget = Pick<RequestView, 'method' | 'url'>

function pathOf(url: string): string {
  const path = url.startsWith('/') ? url : URL.canParse(url) ? new URL(url).pathname : url
  const queryStart = path.indexOf('?')
  return queryStart < 0 ? path : path.slice(0, queryStart)
}

import type { HttpProtocolAdapter } from '@x/exchange'
import type { HttpAnswer, RequestView } from './http-adapter.ts'

export interface CorsRule {
  readonly answerHeaders: readonly string[]
  readonly preflightHeaders: readonly string[]
}

/** Request headers that a page may send: those of the protocol, of proofs (RFC 9449) and of W3C Trace Context. */
const requestHeaders = new Set([
  'accept',
  'authorization',
  'baggage',
  'content-type',
  'dpop',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'traceparent',
  'tracestate',
])
/** Response headers that a page may read, for authorization, retries and sessions. */
const responseHeaders = ['WWW-Authenticate', 'Retry-After', 'DPoP-Nonce', 'Mcp-Session-Id']
const tokenPattern = /^[!#$%&'*+.^_`|~0-9a-z-]+$/

/**
 * Seconds for which a browser may cache the answer to a preflight request: a usual visit, yet a change of the allowed
 * origins still applies soon.
 */
const maxAgeSeconds = 600

/**
 * An adapter adds its HTTP methods and response headers. Pages may not send cookies, because a page of any allowed
 * origin could then act for a user who is logged in.
 */
export function compileCors(
  adapter: Pick<HttpProtocolAdapter, 'methods' | 'exposedHeaders'> = { methods: [], exposedHeaders: [] },
): CorsRule {
  return {
    answerHeaders: [
      'Access-Control-Expose-Headers',
      [...new Set([...responseHeaders, ...adapter.exposedHeaders])].join(', '),
    ],
    preflightHeaders: [
      'Access-Control-Allow-Methods',
      ['POST', ...adapter.methods].join(', '),
      'Access-Control-Max-Age',
      String(maxAgeSeconds),
    ],
  }
}

/** Lets a page of an allowed origin read the answer. Alternating names and values. */
export function createCorsHeaders(rule: CorsRule, origin: string): readonly string[] {
  return ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin', ...rule.answerHeaders]
}

/** Answers a preflight request from a page of an allowed origin. */
export function answerPreflight(rule: CorsRule, origin: string, view: RequestView): HttpAnswer {
  const requestedHeaders = view.header('access-control-request-headers') ?? ''
  // A wildcard does not include `Authorization`, so each requested header is listed. Headers of tool parameters and of
  // middleware are recognized by their prefix.
  const allowedHeaders = requestedHeaders
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter(isAllowedHeader)
  const headers = allowedHeaders.length === 0 ? [] : ['Access-Control-Allow-Headers', allowedHeaders.join(', ')]
  return {
    status: 204,
    headers: ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin', ...rule.preflightHeaders, ...headers],
  }
}

function isAllowedHeader(name: string): boolean {
  return requestHeaders.has(name) || (name.startsWith('mcp-') && tokenPattern.test(name))
}

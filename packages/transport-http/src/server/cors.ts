import type { HttpProtocolAdapter } from '@x/schema'
import type { HttpAnswer, RequestView } from './http-adapter.ts'

/** The CORS headers that allowed origins get. */
export interface CorsOptions {
  /** Request headers to allow beyond those of the protocol, such as `traceparent`. */
  readonly headers?: readonly string[] | undefined
  /** Response headers to show to pages beyond `WWW-Authenticate` and `Retry-After`. */
  readonly exposedHeaders?: readonly string[] | undefined
  /** True when pages may send cookies. Default: false. It needs a list of `allowedOrigins`. */
  readonly credentials?: boolean | undefined
  /** Seconds for which a browser may cache the answer. Default: 10 minutes. */
  readonly maxAge?: number | undefined
}

/** {@link CorsOptions}, worked out once. */
export interface CorsRule {
  readonly requestHeaders: ReadonlySet<string>
  readonly answerHeaders: readonly string[]
  readonly preflightHeaders: readonly string[]
}

const protocolHeaders = [
  'accept',
  'authorization',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
]
const tokenPattern = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
const defaultMaxAgeSeconds = 600

/** Makes a rule of options. `true` is the defaults. An adapter adds its HTTP methods and response headers. */
export function compileCors(
  options: boolean | CorsOptions | undefined,
  adapter: Pick<HttpProtocolAdapter, 'methods' | 'exposedHeaders'> = { methods: [], exposedHeaders: [] },
): CorsRule | undefined {
  if (options === undefined || options === false) return undefined
  const {
    headers = [],
    exposedHeaders = [],
    credentials = false,
    maxAge = defaultMaxAgeSeconds,
  } = options === true ? {} : options
  const credentialHeaders = credentials ? ['Access-Control-Allow-Credentials', 'true'] : []
  return {
    requestHeaders: new Set([...protocolHeaders, ...headers.map((name) => name.toLowerCase())]),
    answerHeaders: [
      ...credentialHeaders,
      'Access-Control-Expose-Headers',
      ['WWW-Authenticate', 'Retry-After', ...adapter.exposedHeaders, ...exposedHeaders].join(', '),
    ],
    preflightHeaders: [
      ...credentialHeaders,
      'Access-Control-Allow-Methods',
      ['POST', ...adapter.methods].join(', '),
      'Access-Control-Max-Age',
      String(maxAge),
    ],
  }
}

/** The headers, flat, that let a page of an allowed origin read the answer. */
export function createCorsHeaders(rule: CorsRule, origin: string): readonly string[] {
  return ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin', ...rule.answerHeaders]
}

/** The answer to a browser that asks, before it sends a request of an allowed origin, whether it may. */
export function answerPreflight(rule: CorsRule, origin: string, view: RequestView): HttpAnswer {
  const requestedHeaders = view.header('access-control-request-headers') ?? ''
  // A wildcard does not cover Authorization, nor anything with credentials, so what was asked for is named. The
  // headers of tool parameters, and of exchanges around the server, are known by their prefix alone.
  const allowedHeaders = requestedHeaders
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => isAllowedHeader(rule, name))
  const headers = allowedHeaders.length === 0 ? [] : ['Access-Control-Allow-Headers', allowedHeaders.join(', ')]
  return {
    status: 204,
    headers: ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin', ...rule.preflightHeaders, ...headers],
  }
}

function isAllowedHeader(rule: CorsRule, name: string): boolean {
  return rule.requestHeaders.has(name) || (name.startsWith('mcp-') && tokenPattern.test(name))
}

import type { Ledger } from '@x/core'

/**
 * The part of an HTTP request that authentication reads. The type `RequestView` of `@x/transport-http` has these
 * members.
 */
export interface HttpRequestHead {
  readonly method: string
  /** The unparsed request target: an absolute URL, or a path with a query. */
  readonly url: string
  /** The request object of the platform. */
  readonly source: unknown
  /**
   * Returns the values of a header by its name in lower case. Each header line is one value if the platform keeps the
   * lines separate.
   */
  headerValues(name: string): readonly string[]
}

/** The parts of a server that the authentication of one request uses. The HTTP transport passes them. */
export interface AuthenticationContext {
  /** Limits the number of introspections and proofs. */
  readonly ledger: Ledger
  /** The key of the client's address in the ledger. */
  readonly callerKey: string
  /** Reports a rejected token, or an issuer that cannot be reached. */
  report(error: unknown): void
}

/** A token that has not been verified, and the authentication scheme of its request. */
export interface AccessToken {
  readonly scheme: 'bearer' | 'dpop'
  readonly token: string
}

const maxTokenLength = 8192
const tooLongMessage = `The access token is longer than ${maxTokenLength} characters`
const schemePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?= |$)/
// The syntax of a bearer token (RFC 6750, section 2.1).
const tokenPattern = /^[A-Za-z0-9._~+/-]+=*$/

/** The reason why the credentials of a request cannot be read. */
export interface MalformedCredentials {
  readonly problem: string
}

/**
 * Returns the value of the `Authorization` header, or undefined if there is none. Returns a problem if there are
 * several headers, or if the query also has a token. Tokens in a query or a body are never accepted, because URLs are
 * logged (basic/authorization/index, access token usage).
 */
export function readAuthorization(request: HttpRequestHead): string | MalformedCredentials | undefined {
  const values = request.headerValues('authorization')
  const [value] = values
  if (value === undefined) return undefined
  if (values.length > 1) return { problem: 'The request has more than one Authorization header' }
  if (hasQueryToken(request.url)) return { problem: 'The request has an access token in its query as well' }
  // The longest token and its scheme, with room for spaces that a proxy may add.
  return value.length > maxTokenLength + 64 ? { problem: tooLongMessage } : value
}

/**
 * Parses the scheme and the token in an `Authorization` header. Returns undefined for a scheme other than Bearer and
 * DPoP.
 */
export function parseAuthorization(value: string): AccessToken | MalformedCredentials | undefined {
  const [name = ''] = schemePattern.exec(value) ?? []
  const scheme = name.toLowerCase()
  if (scheme === '') return { problem: 'The Authorization header has no scheme' }
  // Credentials of another scheme are ignored.
  if (scheme !== 'bearer' && scheme !== 'dpop') return undefined
  const token = skipSpaces(value, name.length)
  if (token.length > maxTokenLength) return { problem: tooLongMessage }
  return tokenPattern.test(token)
    ? { scheme, token }
    : { problem: `The Authorization header has no token after ${name}` }
}

/** The beginning of an `Authorization` header, as nearly every client writes it. */
const bearerPrefix = 'Bearer '

/** Returns true if a header has the form that {@link toCanonicalCredentials} returns. */
export function isCanonicalBearer(value: string): boolean {
  return value.startsWith(bearerPrefix) && value[bearerPrefix.length] !== ' '
}

/**
 * Returns scheme and token in canonical form, in which the number of spaces and the case of the scheme are fixed. The
 * digest of this form identifies a token in the caches. Most headers already have this form, so they are looked up
 * before they are parsed.
 */
export function toCanonicalCredentials({ scheme, token }: AccessToken): string {
  return (scheme === 'bearer' ? bearerPrefix : 'DPoP ') + token
}

// RFC 9110, section 11.4: one or more spaces separate the scheme from the token.
function skipSpaces(value: string, fromIndex: number): string {
  let offset = fromIndex
  while (value[offset] === ' ') offset += 1
  return value.slice(offset)
}

function hasQueryToken(url: string): boolean {
  const offset = url.indexOf('?')
  return (
    offset >= 0 && url.includes('access_token=', offset) && new URLSearchParams(url.slice(offset)).has('access_token')
  )
}

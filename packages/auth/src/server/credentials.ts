import type { Ledger } from '@x/core'

/** The part of an HTTP request that authentication reads. Every request view of `@x/transport-http` is one. */
export interface HttpRequestHead {
  readonly method: string
  /** The unparsed request target: an absolute URL, or path and query. */
  readonly url: string
  /** The platform's own request. */
  readonly source: unknown
  /** The values of a header by its lower-case name, one for each header line where the platform keeps them apart. */
  headerValues(name: string): readonly string[]
}

/** The parts of a server that authentication of one request uses. The HTTP transport passes them. */
export interface AuthenticationContext {
  /** Counts introspections and proofs. */
  readonly ledger: Ledger
  /** The key by which the ledger counts the address of the client. */
  readonly callerKey: string
  /** Reports a rejected token, or an issuer that cannot be reached. */
  report(error: unknown): void
}

/** An unverified token, with the scheme of its request. */
export interface AccessToken {
  readonly scheme: 'bearer' | 'dpop'
  readonly token: string
}

const maxTokenLength = 8192
const tooLongMessage = `The access token is longer than ${maxTokenLength} characters`
const schemePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?= |$)/
// RFC 6750, section 2.1: b64token.
const tokenPattern = /^[A-Za-z0-9._~+/-]+=*$/

/** A request whose credentials cannot be read, and the reason. */
export interface MalformedCredentials {
  readonly problem: string
}

/**
 * Reads the one `Authorization` header, or undefined when there is none. Tokens in a query or a body are never read
 * (basic/authorization/index, access token usage): addresses are logged.
 */
export function readAuthorization(request: HttpRequestHead): string | MalformedCredentials | undefined {
  const values = request.headerValues('authorization')
  const [value] = values
  if (value === undefined) return undefined
  if (values.length > 1) return { problem: 'The request has more than one Authorization header' }
  if (hasQueryToken(request.url)) return { problem: 'The request has an access token in its query as well' }
  // A scheme and a token of that length, with room for spaces that a proxy may add.
  return value.length > maxTokenLength + 64 ? { problem: tooLongMessage } : value
}

/** Reads scheme and token of an `Authorization` header, or undefined for another scheme. */
export function parseAuthorization(value: string): AccessToken | MalformedCredentials | undefined {
  const [name = ''] = schemePattern.exec(value) ?? []
  const scheme = name.toLowerCase()
  if (scheme === '') return { problem: 'The Authorization header has no scheme' }
  // Credentials of another scheme count as none.
  if (scheme !== 'bearer' && scheme !== 'dpop') return undefined
  const token = skipSpaces(value, name.length)
  if (token.length > maxTokenLength) return { problem: tooLongMessage }
  return tokenPattern.test(token)
    ? { scheme, token }
    : { problem: `The Authorization header has no token after ${name}` }
}

/** The start of an `Authorization` header in the form in which nearly every client writes it. */
const bearerPrefix = 'Bearer '

/** Returns true for a header that is the key of its own token: see {@link toCanonicalCredentials}. */
export function isCanonicalBearer(value: string): boolean {
  return value.startsWith(bearerPrefix) && value[bearerPrefix.length] !== ' '
}

/**
 * Returns scheme and token in one form, independent of the spaces and letters of the request. Digests of it name tokens
 * that are known, so that the usual header is looked up before it is parsed.
 */
export function toCanonicalCredentials({ scheme, token }: AccessToken): string {
  return (scheme === 'bearer' ? bearerPrefix : 'DPoP ') + token
}

// RFC 9110, section 11.4: any number of spaces separates the two.
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

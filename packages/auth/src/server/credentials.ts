/** The part of an HTTP request that authentication reads; every request view of `@x/transport-http` is one. */
export interface HttpRequestHead {
  readonly method: string
  /** The target as it came: an absolute URL, or path and query. */
  readonly url: string
  /** The platform's own request. */
  readonly source: unknown
  /** The values of a header by its lower-case name, one for each time that it was sent where the platform tells. */
  headerValues(name: string): readonly string[]
}

/** The credentials of a request; a string says what is wrong with them, undefined that there are none. */
export type Credentials = AccessToken | string | undefined

/** A token as it came, unverified. */
export interface AccessToken {
  readonly scheme: 'bearer' | 'dpop'
  readonly token: string
}

const maxTokenLength = 8192
const tooLongMessage = `The access token is longer than ${maxTokenLength} characters`
const schemePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?= |$)/
// RFC 6750, section 2.1: b64token.
const tokenPattern = /^[A-Za-z0-9._~+/-]+=*$/

/**
 * Reads the one `Authorization` header. Tokens in a query or a body are never read (basic/authorization/index, access
 * token usage): addresses are logged.
 */
export function readCredentials(request: HttpRequestHead): Credentials {
  const values = request.headerValues('authorization')
  const [value] = values
  if (value === undefined) return undefined
  if (values.length > 1) return 'The request has more than one Authorization header'
  if (hasQueryToken(request.url)) return 'The request has an access token in its query as well'
  return parseAuthorization(value)
}

function parseAuthorization(value: string): Credentials {
  // A scheme and a token of that length, with room for what a proxy may add.
  if (value.length > maxTokenLength + 64) return tooLongMessage
  const [name = ''] = schemePattern.exec(value) ?? []
  const scheme = name.toLowerCase()
  if (scheme === '') return 'The Authorization header has no scheme'
  // Another scheme is for somebody else, and as good as none here.
  if (scheme !== 'bearer' && scheme !== 'dpop') return undefined
  const token = skipSpaces(value, name.length)
  if (token.length > maxTokenLength) return tooLongMessage
  return tokenPattern.test(token) ? { scheme, token } : `The Authorization header has no token after ${name}`
}

// RFC 9110, section 11.4: any number of spaces stands between the two.
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

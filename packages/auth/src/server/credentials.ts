/** As much of an HTTP request as authentication reads; `RequestView` of `@x/transport-http` has these members. */
export interface HttpRequestHead {
  readonly method: string
  /** Request target as it arrived: an absolute URL, or a path with a query. */
  readonly url: string
  /** The platform's own request object. */
  readonly source: unknown
  /** Values of a header by its name in lower case: one for each line, if the platform keeps the lines separate. */
  headerValues(name: string): readonly string[]
}

/** Not verified yet. */
export interface AccessToken {
  readonly scheme: 'bearer' | 'dpop'
  readonly token: string
}

const maxTokenLength = 8192
const tooLongMessage = `The access token is longer than ${maxTokenLength} characters`
const schemePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?= |$)/
// RFC 6750, section 2.1.
const tokenPattern = /^[A-Za-z0-9._~+/-]+=*$/

/**
 * Reads the `Authorization` header; undefined if there is none, and a problem if there are several, or if the query has
 * a token as well. Tokens in a query or a body are never accepted, because URLs are logged (basic/authorization/index,
 * access token usage).
 */
export function readAuthorization(request: HttpRequestHead): string | { readonly problem: string } | undefined {
  const values = request.headerValues('authorization')
  const [value] = values
  if (value === undefined) return undefined
  if (values.length > 1) return { problem: 'The request has more than one Authorization header' }
  if (hasQueryToken(request.url)) return { problem: 'The request has an access token in its query as well' }
  // Room for the longest token, its scheme, and spaces that a proxy may add.
  return value.length > maxTokenLength + 64 ? { problem: tooLongMessage } : value
}

/** Undefined for a scheme other than Bearer and DPoP. */
export function parseAuthorization(value: string): AccessToken | { readonly problem: string } | undefined {
  const [name = ''] = schemePattern.exec(value) ?? []
  const scheme = name.toLowerCase()
  if (scheme === '') return { problem: 'The Authorization header has no scheme' }
  if (scheme !== 'bearer' && scheme !== 'dpop') return undefined
  const token = skipSpaces(value, name.length)
  if (token.length > maxTokenLength) return { problem: tooLongMessage }
  return tokenPattern.test(token)
    ? { scheme, token }
    : { problem: `The Authorization header has no token after ${name}` }
}

const bearerPrefix = 'Bearer '

/** In the form that {@link toCanonicalCredentials} returns. */
export function isCanonicalBearer(value: string): boolean {
  return value.startsWith(bearerPrefix) && value[bearerPrefix.length] !== ' '
}

/**
 * Fixes the number of spaces and the case of the scheme, because the digest of this form identifies a token in the
 * caches. Most headers already have it, and are looked up before they are parsed.
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

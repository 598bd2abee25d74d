import { discoverProbe } from '@x/exchange/internal'
import { protocolVersion } from '@x/schema'
import { boundedFetch, type FetchFunction } from '../bounded-fetch.ts'
import { isScope } from '../scopes.ts'

export interface Challenge {
  /** In lower case. */
  readonly scheme: string
  /** By names in lower case. Of a parameter that occurs twice, the first value counts. */
  readonly params: ReadonlyMap<string, string>
  /** Names of parameters that occur with several values. */
  readonly ambiguousParams: ReadonlySet<string>
}

const maxHeaderLength = 8192
const whitespace = /[ \t]*/y
const separators = /[ \t,]*/y
const tokenPattern = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y
const equalsSignPattern = /[ \t]*=[ \t]*/y
const quotedString = /"((?:[^"\\]|\\[^])*)"/y
// Some servers write apostrophes, or no quotes at all around a URL. What they mean is clear.
const apostrophes = /'[^',"]*'(?=[ \t]*(?:,|$))/y
const unquotedValue = /[^\s,"]+/y
const token68 = /[A-Za-z0-9\-._~+/]+=*(?=[ \t]*(?:,|$))/y

/**
 * RFC 9110, section 11.6.1, in one or more lines of `WWW-Authenticate`. Parsing ends at the first violation of the
 * grammar. A header of more than 8 KiB has no challenges.
 */
export function parseChallenges(header: string | undefined): readonly Challenge[] {
  if (header === undefined || header.length > maxHeaderLength) return []
  const reader = new HeaderReader(header)
  const challenges: Challenge[] = []
  for (;;) {
    reader.take(separators)
    const scheme = reader.take(tokenPattern)
    if (scheme === undefined) return challenges
    const params = new Map<string, string>()
    const ambiguousParams = new Set<string>()
    challenges.push({ scheme: scheme.toLowerCase(), params, ambiguousParams })
    reader.take(whitespace)
    if (reader.take(token68) === undefined) readParams(reader, params, ambiguousParams)
  }
}

function readParams(reader: HeaderReader, params: Map<string, string>, ambiguousParams: Set<string>): void {
  for (;;) {
    const start = reader.position
    reader.take(separators)
    const name = reader.take(tokenPattern)
    const value = name !== undefined && reader.take(equalsSignPattern) !== undefined ? readValue(reader) : undefined
    // Now `name` is the scheme of the next challenge, or the rest of the header violates the grammar.
    if (name === undefined || value === undefined) {
      reader.position = start
      return
    }
    const key = name.toLowerCase()
    if (!params.has(key)) params.set(key, value)
    else if (params.get(key) !== value) ambiguousParams.add(key)
  }
}

function readValue(reader: HeaderReader): string | undefined {
  return (
    reader
      .take(quotedString)
      ?.slice(1, -1)
      .replaceAll(/\\([^])/g, '$1') ??
    reader.take(apostrophes)?.slice(1, -1) ??
    reader.take(unquotedValue)
  )
}

class HeaderReader {
  readonly #text: string
  position = 0

  constructor(text: string) {
    this.#text = text
  }

  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position
    const match = pattern.exec(this.#text)?.[0]
    if (match !== undefined) this.position += match.length
    return match
  }
}

/** What a login needs of a challenge. */
export interface TokenChallenge {
  readonly metadataUrl: string | undefined
  readonly scopes: readonly string[] | undefined
  readonly error: string | undefined
}

/** False if only credentials other than tokens are asked for, such as a password. */
export function mayAskForToken(header: string | undefined): boolean {
  const challenges = parseChallenges(header)
  return challenges.length === 0 || challenges.some(isTokenScheme)
}

function isTokenScheme({ scheme }: Challenge): boolean {
  return scheme === 'bearer' || scheme === 'dpop'
}

/**
 * Takes the metadata URL, the scopes and the error from Bearer and DPoP challenges (RFC 6750, RFC 9728 section 5.1). A
 * value that is no absolute URL, and a parameter with several values, count as no metadata URL: the well-known
 * addresses are certain.
 */
export function parseTokenChallenge(header: string | undefined): TokenChallenge {
  const challenges = parseChallenges(header).filter(isTokenScheme)
  const findParam = (name: string): string | undefined =>
    challenges.map(({ params }) => params.get(name)).find((value) => value !== undefined)
  const scope = findParam('scope')
  const metadataUrl = challenges
    .filter(({ ambiguousParams }) => !ambiguousParams.has('resource_metadata'))
    .map(({ params }) => params.get('resource_metadata') ?? '')
    .find((value) => URL.canParse(value))
  return { metadataUrl, scopes: parseScopeList(scope), error: findParam('error') }
}

const challengeLimits = { timeoutMs: 5000, maxBytes: 65_536 }

/**
 * Asks an endpoint, without a token, for the challenge that the first call would get. If none comes, its metadata
 * decide.
 */
export async function requestTokenChallenge(
  fetch: FetchFunction,
  { href }: URL,
  signal: AbortSignal,
): Promise<TokenChallenge> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': protocolVersion,
    'mcp-method': discoverProbe.method,
  }
  const request = { method: 'POST', headers, body: JSON.stringify(discoverProbe), signal, ...challengeLimits }
  const response = await boundedFetch(fetch, href, request).catch(() => undefined)
  signal.throwIfAborted()
  return parseTokenChallenge(response?.status === 401 ? (response.headers.get('www-authenticate') ?? '') : undefined)
}

/** RFC 9449, section 7.1. Challenges of other schemes are ignored. */
export function findDpopError(header: string | undefined): string | undefined {
  return parseChallenges(header)
    .find(({ scheme }) => scheme === 'dpop')
    ?.params.get('error')
}

/** A DPoP challenge means that the server accepts tokens that are bound to a key. */
export function acceptsDpop(header: string | undefined): boolean {
  return parseChallenges(header).some(({ scheme }) => scheme === 'dpop')
}

/** Leaves out entries that are no valid scopes (RFC 6749, section 3.3). */
function parseScopeList(scopeList: string | undefined): readonly string[] | undefined {
  const scopes = scopeList?.split(' ').filter(isScope) ?? []
  return scopes.length === 0 ? undefined : [...new Set(scopes)]
}

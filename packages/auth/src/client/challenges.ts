import { isScope } from '../scopes.ts'

/** One challenge of a `WWW-Authenticate` header. */
export interface Challenge {
  /** The scheme in lower case. */
  readonly scheme: string
  /** The parameters by their lower-case names. A repeated one has its first value. */
  readonly params: ReadonlyMap<string, string>
}

const maxHeaderLength = 8192
const whitespace = /[ \t]*/y
const separators = /[ \t,]*/y
const tokenPattern = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y
const equalsSignPattern = /[ \t]*=[ \t]*/y
const quotedString = /"((?:[^"\\]|\\[^])*)"/y
const token68 = /[A-Za-z0-9\-._~+/]+=*(?=[ \t]*(?:,|$))/y

/**
 * Parses the challenges of a `WWW-Authenticate` header (RFC 9110, section 11.6.1), several in one or more lines. Reads
 * as far as the text keeps to the grammar, and nothing of more than 8 KiB.
 */
export function parseChallenges(header: string | undefined): readonly Challenge[] {
  if (header === undefined || header.length > maxHeaderLength) return []
  const reader = createHeaderReader(header)
  const challenges: Challenge[] = []
  for (;;) {
    reader.take(separators)
    const scheme = reader.take(tokenPattern)
    if (scheme === undefined) return challenges
    const params = new Map<string, string>()
    challenges.push({ scheme: scheme.toLowerCase(), params })
    reader.take(whitespace)
    if (reader.take(token68) === undefined) readParams(reader, params)
  }
}

function readParams(reader: HeaderReader, params: Map<string, string>): void {
  for (;;) {
    const start = reader.position()
    reader.take(separators)
    const name = reader.take(tokenPattern)
    const value = name !== undefined && reader.take(equalsSignPattern) !== undefined ? readValue(reader) : undefined
    // The name is the scheme of the next challenge, or the text breaks the grammar from here on.
    if (name === undefined || value === undefined) return reader.moveTo(start)
    const key = name.toLowerCase()
    if (!params.has(key)) params.set(key, value)
  }
}

function readValue(reader: HeaderReader): string | undefined {
  return (
    reader
      .take(quotedString)
      ?.slice(1, -1)
      .replaceAll(/\\([^])/g, '$1') ?? reader.take(tokenPattern)
  )
}

interface HeaderReader {
  position(): number
  moveTo(position: number): void
  /** Consumes a match at the position. Returns `undefined`, without a move, when there is none. */
  take(pattern: RegExp): string | undefined
}

function createHeaderReader(text: string): HeaderReader {
  let position = 0
  return {
    position: () => position,
    moveTo: (newPosition) => {
      position = newPosition
    },
    take: (pattern) => {
      pattern.lastIndex = position
      const match = pattern.exec(text)?.[0]
      if (match === undefined) return undefined
      position += match.length
      return match
    },
  }
}

/** The parts of a challenge that a login needs. */
export interface TokenChallenge {
  readonly metadataUrl: string | undefined
  readonly scopes: readonly string[] | undefined
  readonly error: string | undefined
}

/** True unless a response asks for credentials of other kinds alone, such as a password. */
export function mayAskForToken(header: string | undefined): boolean {
  const challenges = parseChallenges(header)
  return challenges.length === 0 || challenges.some(isTokenScheme)
}

function isTokenScheme({ scheme }: Challenge): boolean {
  return scheme === 'bearer' || scheme === 'dpop'
}

/** Reads what the first Bearer or DPoP challenge of a header asks for (RFC 6750, RFC 9728 section 5.1). */
export function parseTokenChallenge(header: string | undefined): TokenChallenge {
  const challenges = parseChallenges(header).filter(isTokenScheme)
  const findParam = (name: string): string | undefined =>
    challenges.map(({ params }) => params.get(name)).find((value) => value !== undefined)
  const scope = findParam('scope')
  return { metadataUrl: findParam('resource_metadata'), scopes: parseScopeList(scope), error: findParam('error') }
}

/** Reads the error of the DPoP challenge alone (RFC 9449, section 7.1). */
export function findDpopError(header: string | undefined): string | undefined {
  return parseChallenges(header)
    .find(({ scheme }) => scheme === 'dpop')
    ?.params.get('error')
}

/**
 * The scopes of a list that is separated by spaces. Entries that are no scopes are left out (RFC 6749, section 3.3).
 */
function parseScopeList(scopeList: string | undefined): readonly string[] | undefined {
  const scopes = scopeList?.split(' ').filter(isScope) ?? []
  return scopes.length === 0 ? undefined : [...new Set(scopes)]
}

import { sha256Hex } from '@x/core'

/** The text between the name of an upstream and the name of its tool or prompt. */
const separator = '__'
/** The largest number of characters in a name. Several model APIs accept no longer names of tools. */
// limit: names of tools | characters | the name of a tool or prompt for hosts | cut, with a digest at the end
const maxNameLength = 64
/** The characters that several model APIs do not accept in names of tools, such as the dot of `todo.add`. */
const otherCharacters = /[^A-Za-z0-9_-]/g
/** The number of hexadecimal digits of SHA-256 at the end of a replaced name. */
const digestLength = 8
// limit: names of upstreams | characters | the name of an upstream | rejected at the start
const maxUpstreamNameLength = 32

/**
 * Lower case, because URI schemes that begin with the name are compared without case. No underscore and no plus sign, so
 * that the name never contains a separator.
 */
const upstreamNamePattern = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/

/**
 * The names of tools that a gateway offers, as server/tools recommends them. A name with other characters could look like
 * that of another tool, and a longer one may not fit into the headers of a request.
 */
const toolNamePattern = /^[A-Za-z0-9_.-]{1,128}$/

/** A name or a URI of one upstream. */
export interface PrefixedName {
  /** The name of the upstream. */
  readonly upstream: string
  /** The name or the URI at the upstream. */
  readonly inner: string
}

/** Returns the reason why an upstream cannot have a name, or undefined. */
export function findUpstreamNameProblem(name: string): string | undefined {
  if (name.length <= maxUpstreamNameLength && upstreamNamePattern.test(name)) return undefined
  return `must have at most ${maxUpstreamNameLength} lower-case letters, digits and single hyphens, first a letter`
}

/** Returns true if a gateway offers tools with this name. */
export function isToolName(name: string): boolean {
  return toolNamePattern.test(name)
}

/**
 * Returns the name under which a gateway offers a tool or a prompt of an upstream, as model APIs accept it. A long name,
 * and one with other characters, ends with a digest of the whole name. The result is the same at every instance.
 */
export function encodeName(upstream: string, inner: string): string | Promise<string> {
  const name = `${upstream}${separator}${inner}`
  const accepted = name.replaceAll(otherCharacters, '_')
  if (name.length <= maxNameLength && accepted === name) return name
  const digest = sha256Hex(name)
  return typeof digest === 'string'
    ? withDigest(accepted, digest)
    : digest.then((digits) => withDigest(accepted, digits))
}

function withDigest(name: string, digest: string): string {
  return `${name.slice(0, maxNameLength - digestLength - 1)}_${digest.slice(0, digestLength)}`
}

/** Returns the upstream and the rest of a name. Undefined for a name that belongs to no upstream. */
export function decodeName(name: string): PrefixedName | undefined {
  const index = name.indexOf(separator)
  return index <= 0 ? undefined : { upstream: name.slice(0, index), inner: name.slice(index + separator.length) }
}

/** Returns true if a name may end with a digest. Then its {@link decodeName} is not the name at the upstream. */
export function mayHaveDigest(name: string): boolean {
  return /_[0-9a-f]{8}$/.test(name)
}

/** The number of names that one upstream may have with a digest. The list of the upstream has the others. */
const maxReplacedNames = 1000

/** The names of one upstream that end with a digest, by the name that the gateway offers. */
export class ReplacedNames {
  readonly #inner = new Map<string, string>()

  /** Remembers a name of a list, so that a call needs no list. A digest always belongs to the same name. */
  add(name: string, inner: string): void {
    if (mayHaveDigest(name) && this.#inner.size < maxReplacedNames) this.#inner.set(name, inner)
  }

  find(name: string): string | undefined {
    return this.#inner.get(name)
  }
}

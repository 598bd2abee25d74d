import { sha256Hex } from '@x/core'

const separator = '__'
/** Characters in a name. Several model APIs accept no longer names of tools. */
// limit: names of tools | characters | the name of a tool or prompt for hosts | cut, with a digest at the end
const maxNameLength = 64
/** Several model APIs do not accept these characters in names of tools, such as the dot of `todo.add`. */
const otherCharacters = /[^A-Za-z0-9_-]/g
const digestLength = 8
// limit: names of upstreams | characters | the name of an upstream | rejected at the start
const maxUpstreamNameLength = 32

/**
 * Lower case, because URI schemes that begin with the name are compared without case. No underscore and no plus sign,
 * so that the name never contains a separator.
 */
const upstreamNamePattern = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/

/**
 * Tools are offered under such names only, as server/tools recommends. A name with other characters could look like
 * that of another tool, and a longer one may not fit into the headers of a request.
 */
const toolNamePattern = /^[A-Za-z0-9_.-]{1,128}$/

/** A name or a URI of one upstream. */
export interface PrefixedName {
  readonly upstream: string
  /** As the upstream has it. */
  readonly inner: string
}

/** Why an upstream cannot have a name, or undefined. */
export function findUpstreamNameProblem(name: string): string | undefined {
  if (name.length <= maxUpstreamNameLength && upstreamNamePattern.test(name)) return undefined
  return `must have at most ${maxUpstreamNameLength} lower-case letters, digits and single hyphens, first a letter`
}

/** True if a gateway offers tools with this name. */
export function isToolName(name: string): boolean {
  return toolNamePattern.test(name)
}

/**
 * Names an upstream's tool or prompt for hosts, as model APIs accept it, and the same at every instance. A long name,
 * and one with other characters, ends with a digest of the whole name.
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

/** Splits a name into its upstream and the rest. Undefined for a name that belongs to no upstream. */
export function decodeName(name: string): PrefixedName | undefined {
  const index = name.indexOf(separator)
  return index <= 0 ? undefined : { upstream: name.slice(0, index), inner: name.slice(index + separator.length) }
}

/** True if a name may end with a digest. Then its {@link decodeName} is not the name at the upstream. */
export function mayHaveDigest(name: string): boolean {
  return /_[0-9a-f]{8}$/.test(name)
}

/** The upstream's list has the others. */
const maxReplacedNames = 1000

/** One upstream's names that end with a digest, by the name that the gateway offers. */
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

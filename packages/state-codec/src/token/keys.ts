import { StateUsageError } from '../state-error.ts'
import { decodeBase64url } from './base64url.ts'

/**
 * A secret of 32 random bytes or more: the bytes, or their hex, Base64 or Base64url. With an `id`, tokens name the key by it;
 * otherwise by a prefix of the key's digest.
 */
export type KeyInput = string | Uint8Array | { readonly id?: string | undefined; readonly key: string | Uint8Array }

/** A key as it was given, decoded. */
export interface RingKey {
  readonly id: string | undefined
  readonly secret: Uint8Array
}

const recipe = `make one with: node -e "console.log(require('node:crypto').randomBytes(32).toString('base64url'))", or: openssl rand -hex 32`
const mostKeys = 32

/**
 * Decodes the keys of a ring and refuses what is none.
 *
 * @throws StateUsageError with `key`: the message names the key by its place, and how to make one.
 */
export function parseKeys(inputs: readonly (KeyInput | undefined)[]): readonly RingKey[] {
  if (!Array.isArray(inputs) || inputs.length === 0) throw mistake(`keys is empty: give at least one; ${recipe}`)
  if (inputs.length > mostKeys) throw mistake(`keys has ${inputs.length} keys, the most is ${mostKeys}: drop old ones`)
  const keys = inputs.map((input, index) => parseKey(input, `keys[${index}]`))
  for (const [index, { id, secret }] of keys.entries()) {
    const before = keys.slice(0, index)
    const twin = before.findIndex((other) => sameBytes(other.secret, secret))
    if (twin !== -1) throw mistake(`keys[${index}] is the same as keys[${twin}]: give each key once`)
    if (id !== undefined && before.some((other) => other.id === id)) {
      throw mistake(`keys[${index}] has the id "${id}" of a key before it: ids are unique, and never used again`)
    }
  }
  return keys
}

/** A new random key, in hex: for tests, and for a server that may forget its tokens when it stops. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

// What comes from the environment may be anything, whatever its type says.
function parseKey(input: unknown, name: string): RingKey {
  if (typeof input === 'object' && input !== null && 'key' in input) {
    const id = 'id' in input && input.id !== undefined ? parseId(input.id, name) : undefined
    return { id, secret: parseSecret(input.key, `${name}.key`) }
  }
  return { id: undefined, secret: parseSecret(input, name) }
}

function parseSecret(input: unknown, name: string): Uint8Array {
  if (input === undefined || input === null || input === '') {
    const found = input === '' ? 'empty' : String(input)
    throw mistake(`${name} is ${found}: is the environment variable set? If you need a key, ${recipe}`)
  }
  if (typeof input === 'string') return decodeText(input, name)
  if (input instanceof Uint8Array) return checkBytes(input, name)
  throw mistake(`${name} is no key: give bytes, a string of hex or Base64, or { id, key }`)
}

function parseId(id: unknown, name: string): string {
  if (typeof id === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(id)) return id
  throw mistake(
    `${name}.id must be 1 to 64 letters, digits, dots, dashes or underscores: it is readable in every token`,
  )
}

function decodeText(text: string, name: string): Uint8Array {
  const trimmed = text.trim()
  // Base64 of 32 random bytes is never hex by chance, so what is all hex is hex, and is measured as such.
  if (/^(?:[0-9a-f]{2})+$/i.test(trimmed)) return checkBytes(fromHex(trimmed), name)
  const bytes = decodeBase64url(
    trimmed
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replace(/={1,2}$/, ''),
  )
  if (bytes === undefined) throw mistake(`${name} is neither hex nor Base64, and a passphrase is no key: ${recipe}`)
  if (bytes.length >= 32 && looksWritten(trimmed))
    throw mistake(`${name} looks like a passphrase, not a random key: ${recipe}`)
  return checkBytes(bytes, name)
}

function checkBytes(bytes: Uint8Array, name: string): Uint8Array {
  if (bytes.length < 32) throw mistake(`${name} has ${bytes.length} bytes, a key has 32 or more: ${recipe}`)
  if (bytes.length > 1024) throw mistake(`${name} has ${bytes.length} bytes, the most is 1024: ${recipe}`)
  if (bytes.every((byte) => byte >= 0x20 && byte < 0x7f)) {
    throw mistake(`${name} is text, not random bytes: decode it if it is hex or Base64 of a key; otherwise ${recipe}`)
  }
  if (new Set(bytes).size < 16 || isSequence(bytes))
    throw mistake(`${name} repeats itself and can be guessed: ${recipe}`)
  // A copy: the caller may wipe or reuse its own.
  return Uint8Array.from(bytes)
}

/**
 * Whether Base64 was typed rather than drawn. In 43 random characters, capitals, small letters and the rest change places about 26 times; in words
 * they seldom do. A random key is taken for words once in 100,000, and another one is made at once.
 */
function looksWritten(text: string): boolean {
  const kinds = Array.from(text.slice(0, 43), (character) =>
    /[a-z]/.test(character) ? 0 : /[A-Z]/.test(character) ? 1 : 2,
  )
  const changes = kinds.filter((kind, index) => index > 0 && kind !== kinds[index - 1]).length
  const onlyLetters = !kinds.includes(2)
  return changes < (onlyLetters ? 16 : 12) || !kinds.includes(0) || !kinds.includes(1)
}

function isSequence(bytes: Uint8Array): boolean {
  const step = ((bytes[1] ?? 0) - (bytes[0] ?? 0)) & 255
  return bytes.every((byte, index) => index === 0 || ((byte - (bytes[index - 1] ?? 0)) & 255) === step)
}

function fromHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, index) =>
    Number.parseInt(text.slice(index * 2, index * 2 + 2), 16),
  )
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}

function mistake(message: string): StateUsageError {
  return new StateUsageError('key', message)
}

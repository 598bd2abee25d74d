import { encodeHex } from '@x/core'
import { StateUsageError } from '../state-error.ts'
import { decodeBase64url } from './base64url.ts'

/**
 * A secret of 32 random bytes or more, as bytes or as a text in hex, Base64 or Base64url. Tokens name the key by its
 * `id`, or without an `id` by a prefix of the key's digest.
 */
export type KeyInput = string | Uint8Array | { readonly id?: string | undefined; readonly key: string | Uint8Array }

export interface RingKey {
  readonly id: string | undefined
  readonly secret: Uint8Array
}

const keyInstructions = `make one with: node -e "console.log(require('node:crypto').randomBytes(32).toString('base64url'))", or: openssl rand -hex 32; a test takes randomKey()`
const maxKeys = 32

export function parseKeys(inputs: readonly (KeyInput | undefined)[]): readonly RingKey[] {
  if (!Array.isArray(inputs) || inputs.length === 0)
    throw keyError(`keys is empty: give at least one; ${keyInstructions}`)
  if (inputs.length > maxKeys) throw keyError(`keys has ${inputs.length} keys; the limit is ${maxKeys}: drop old ones`)
  const keys = inputs.map((input, index) => parseKey(input, `keys[${index}]`))
  for (const [index, { id, secret }] of keys.entries()) {
    const earlierKeys = keys.slice(0, index)
    const duplicateIndex = earlierKeys.findIndex((other) => haveSameBytes(other.secret, secret))
    if (duplicateIndex !== -1)
      throw keyError(`keys[${index}] is the same as keys[${duplicateIndex}]: give each key once`)
    if (id !== undefined && earlierKeys.some((other) => other.id === id)) {
      throw keyError(
        `keys[${index}] has the id "${id}" of a key before it: give each key an id of its own, and never reuse one`,
      )
    }
  }
  return keys
}

/** A new random key in hex, for tests and for servers whose tokens need not survive a restart. */
export function randomKey(): string {
  return encodeHex(crypto.getRandomValues(new Uint8Array(32)))
}

// `unknown`, because the value of an environment variable may not match the type of a key.
function parseKey(input: unknown, name: string): RingKey {
  if (typeof input === 'object' && input !== null && 'key' in input) {
    const id = 'id' in input && input.id !== undefined ? parseId(input.id, name) : undefined
    return { id, secret: parseSecret(input.key, `${name}.key`) }
  }
  return { id: undefined, secret: parseSecret(input, name) }
}

function parseSecret(input: unknown, name: string): Uint8Array {
  if (input === undefined || input === null || input === '') {
    const inputDescription = input === '' ? 'empty' : String(input)
    throw keyError(
      `${name} is ${inputDescription}: is the environment variable set? If you need a key, ${keyInstructions}`,
    )
  }
  if (typeof input === 'string') return decodeKeyText(input, name)
  if (input instanceof Uint8Array) return checkKeyBytes(input, name)
  throw keyError(`${name} is not a key: give bytes, a string of hex or Base64, or { id, key }`)
}

function parseId(id: unknown, name: string): string {
  if (typeof id === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(id)) return id
  throw keyError(
    `${name}.id must be 1 to 64 letters, digits, dots, dashes or underscores: it is readable in every token`,
  )
}

function decodeKeyText(text: string, name: string): Uint8Array {
  const trimmedText = text.trim()
  // Base64 of 32 random bytes is practically never valid hex, so hex digits are read as hex.
  if (/^(?:[0-9a-f]{2})+$/i.test(trimmedText)) return checkKeyBytes(decodeHex(trimmedText), name, ' after decoding')
  const bytes = decodeBase64url(
    trimmedText
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replace(/={1,2}$/, ''),
  )
  if (bytes === undefined)
    throw keyError(`${name} is neither hex nor Base64, and a passphrase is not a key: ${keyInstructions}`)
  if (bytes.length >= 32 && looksLikeWords(trimmedText))
    throw keyError(`${name} looks like a passphrase, not a random key: ${keyInstructions}`)
  return checkKeyBytes(bytes, name, ' after decoding')
}

function checkKeyBytes(bytes: Uint8Array, name: string, after = ''): Uint8Array {
  if (bytes.length < 32)
    throw keyError(`${name} has ${bytes.length} bytes${after}, a key has 32 or more: ${keyInstructions}`)
  if (bytes.length > 1024) throw keyError(`${name} has ${bytes.length} bytes; the limit is 1024: ${keyInstructions}`)
  if (bytes.every((byte) => byte >= 0x20 && byte < 0x7f)) {
    throw keyError(
      `${name} is text, not random bytes: decode it if it is hex or Base64 of a key; otherwise ${keyInstructions}`,
    )
  }
  if (new Set(bytes).size < 16 || isSequence(bytes))
    throw keyError(`${name} repeats itself and can be guessed: ${keyInstructions}`)
  // Copied, because the caller may overwrite its own bytes.
  return Uint8Array.from(bytes)
}

/**
 * Words, not random bytes: in 43 random characters, the class (capital, small, other) changes about 26 times, in words
 * less often. One random key in 100,000 looks like words, and the program needs another one then.
 */
function looksLikeWords(text: string): boolean {
  const characterKinds = Array.from(text.slice(0, 43), (character) =>
    /[a-z]/.test(character) ? 0 : /[A-Z]/.test(character) ? 1 : 2,
  )
  const kindChanges = characterKinds.filter((kind, index) => index > 0 && kind !== characterKinds[index - 1]).length
  const hasOnlyLetters = !characterKinds.includes(2)
  return kindChanges < (hasOnlyLetters ? 16 : 12) || !characterKinds.includes(0) || !characterKinds.includes(1)
}

function isSequence(bytes: Uint8Array): boolean {
  const step = ((bytes[1] ?? 0) - (bytes[0] ?? 0)) & 255
  return bytes.every((byte, index) => index === 0 || ((byte - (bytes[index - 1] ?? 0)) & 255) === step)
}

function decodeHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, index) =>
    Number.parseInt(text.slice(index * 2, index * 2 + 2), 16),
  )
}

function haveSameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}

function keyError(message: string): StateUsageError {
  return new StateUsageError('key', message)
}

/** A line of a text of keys, and the key as a codec takes it. */
export interface KeyLine {
  readonly line: string
  readonly input: KeyInput
}

/**
 * Parses the keys of a file or of an environment variable, the newest first. Line breaks or commas separate keys, and
 * `id:key` names one. An item that begins with `#` is a comment up to the next comma or line break. The keys themselves
 * are not checked.
 */
export function parseKeyLines(text: string): readonly KeyLine[] {
  if (typeof text !== 'string')
    throw new StateUsageError(
      'configuration',
      `parseKeyLines takes the text of a file or a variable, not ${typeof text}`,
    )
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ line, input: parseKeyLine(line) }))
}

function parseKeyLine(line: string): KeyInput {
  const colon = line.indexOf(':')
  return colon === -1 ? line : { id: line.slice(0, colon).trim(), key: line.slice(colon + 1).trim() }
}

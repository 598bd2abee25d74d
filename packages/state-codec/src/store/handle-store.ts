import { BoundedMap, encodeBase64url, type JsonValue } from '@x/core'
import {
  type ResolvedCodecOptions,
  checkPurpose,
  clockSkewMs,
  createEnvelope,
  digestBinding,
  openEnvelope,
  type ReplacedValue,
} from '../envelope/envelope.ts'
import { parseEnvelope, stringifyEnvelope } from '../envelope/envelope-json.ts'
import { describeLargestEntries } from '../envelope/largest-entries.ts'
import type { OpenOptions, SealOptions, StateStore } from '../state-codec.ts'
import { StateError, StateUsageError } from '../state-error.ts'
import { isCanonicalBase64url } from '../token/base64url.ts'
import type { CryptoProvider } from '../token/crypto-provider.ts'
import { type GuardedStore, withStateErrors } from './call-store.ts'

export const handleLength = 43

/** A store keeps the values of many calls in memory. */
// limit: stored state | characters | a stored state | rejected at sealing
const maxRecordCharacters = 1024 * 1024

/** If the new value is never read, the replaced one stays so long. */
const replacedTtlMs = 600_000

/** Beyond it, a process may try to delete a key again. */
const maxDeletedKeys = 1000

export function isHandle(text: string): boolean {
  return text.length === handleLength && isCanonicalBase64url(text)
}

/**
 * Values in a store, each with a random handle of 256 bits. A value is kept under the digest of its handle, so that
 * read access to the store does not reveal the handles.
 */
export class HandleStore {
  readonly #store: GuardedStore
  readonly #codecOptions: ResolvedCodecOptions
  readonly #provider: CryptoProvider
  readonly #deletedKeys = new BoundedMap<string, true>(maxDeletedKeys)

  constructor(store: StateStore, codecOptions: ResolvedCodecOptions, provider: CryptoProvider) {
    this.#store = withStateErrors(store)
    this.#codecOptions = codecOptions
    this.#provider = provider
  }

  /** Resolves when the store answers. Rejects when it cannot be reached. */
  ping(): Promise<void> {
    return this.#store.ping()
  }

  newHandle(): string {
    return encodeBase64url(this.#provider.random(32))
  }

  /** `context.replaces` is the handle of the value that the new one replaces. */
  async write(handle: string, value: JsonValue, context: SealOptions): Promise<void> {
    const bindingDigest = await digestBinding(context, this.#provider.digest)
    const replaces = await this.#findReplacedValue(context)
    const envelope = createEnvelope(value, context, { codecOptions: this.#codecOptions, bindingDigest })
    const envelopeText = stringifyEnvelope({ ...envelope, replaces })
    if (envelopeText.length > maxRecordCharacters) throw recordTooLargeError(envelopeText.length, value)
    // The expiry in the envelope decides whether a value opens. The store may keep it a little longer.
    const ownedStore = this.#store.forOwner(context.owner)
    const wasAdded = await ownedStore.add(
      await this.#deriveKey(handle),
      `${JSON.stringify(context.purpose)}\n${envelopeText}`,
      envelope.until - envelope.at + clockSkewMs,
    )
    if (!wasAdded)
      throw new StateUsageError('configuration', 'The random source of the platform returned the same handle twice')
    if (replaces !== undefined) await ownedStore.expire(replaces.key, replacedTtlMs)
  }

  async read(handle: string, context: OpenOptions): Promise<JsonValue> {
    checkPurpose(context.purpose)
    if (!isHandle(handle)) throw new StateError('malformed', 'It is not a handle')
    const record = await this.#store.get(await this.#deriveKey(handle))
    if (record === undefined)
      throw new StateError('missing', 'The store has no value under this handle; it may have expired')
    const purposeEnd = record.indexOf('\n')
    const bindingDigest = await digestBinding(context, this.#provider.digest)
    const envelope = parseEnvelope(record.slice(purposeEnd + 1))
    const value = openEnvelope(envelope, context, { codecOptions: this.#codecOptions, bindingDigest })
    if (record.slice(0, purposeEnd) !== JSON.stringify(context.purpose)) {
      throw new StateError('purpose', `It was not made for "${context.purpose}"`)
    }
    if (envelope.replaces !== undefined) await this.#deleteReplacedValue(envelope.replaces, context.owner)
    return value
  }

  async #deriveKey(handle: string): Promise<string> {
    return `state:${await this.#provider.digest(`x/state-codec handle ${handle}`)}`
  }

  async #findReplacedValue({ replaces }: SealOptions): Promise<ReplacedValue | undefined> {
    if (replaces === undefined || !isHandle(replaces)) return undefined
    return { key: await this.#deriveKey(replaces), at: this.#codecOptions.runtime.now() }
  }

  async #deleteReplacedValue({ key, at }: ReplacedValue, owner: string | undefined): Promise<void> {
    const ageMs = this.#codecOptions.runtime.now() - at
    // Deleted only once. After this time, a store with `expire` has removed the value by itself.
    if (this.#deletedKeys.has(key) || (this.#store.canExpire && ageMs > replacedTtlMs + clockSkewMs)) return
    await this.#store.forOwner(owner).delete(key)
    this.#deletedKeys.set(key, true)
  }
}

function recordTooLargeError(characterCount: number, value: JsonValue): StateUsageError {
  const entries = describeLargestEntries(value)
  const message = `The state has ${characterCount} characters; the limit is ${maxRecordCharacters}. The largest entries: ${entries}. Store less`
  return new StateUsageError('too_large', message)
}

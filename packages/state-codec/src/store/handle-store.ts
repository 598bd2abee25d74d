import { encodeBase64url, type JsonValue } from '@x/core'
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
import { withStateErrors } from './call-store.ts'

/** Values in a store, each under a random handle of 256 bits. */
export interface HandleStore {
  readonly codecOptions: ResolvedCodecOptions
  newHandle(): string
  /** `context.replaces` is the handle of the value that the new one replaces. */
  write(handle: string, value: JsonValue, context: SealOptions): Promise<void>
  read(handle: string, context: OpenOptions): Promise<JsonValue>
  /** Resolves when the store answers. Rejects when it cannot be reached. */
  ping(): Promise<void>
}

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

/** Keeps each value under the digest of its handle, so that read access to the store does not reveal the handles. */
export function createHandleStore(
  store: StateStore,
  codecOptions: ResolvedCodecOptions,
  provider: CryptoProvider,
): HandleStore {
  const guardedStore = withStateErrors(store)
  const { runtime } = codecOptions
  const deriveKey = async (handle: string): Promise<string> =>
    `state:${await provider.digest(`x/state-codec handle ${handle}`)}`
  const findReplacedValue = async ({ replaces }: SealOptions): Promise<ReplacedValue | undefined> =>
    replaces === undefined || !isHandle(replaces) ? undefined : { key: await deriveKey(replaces), at: runtime.now() }
  const deletedKeys = new Set<string>()
  const deleteReplacedValue = async ({ key, at }: ReplacedValue, owner: string | undefined): Promise<void> => {
    // Deleted only once. After this time, a store with `expire` has removed the value by itself.
    if (deletedKeys.has(key) || (guardedStore.canExpire && runtime.now() - at > replacedTtlMs + clockSkewMs)) return
    await guardedStore.forOwner(owner).delete(key)
    if (deletedKeys.size >= maxDeletedKeys) deletedKeys.clear()
    deletedKeys.add(key)
  }
  return {
    codecOptions,
    ping: () => guardedStore.ping(),
    newHandle: () => encodeBase64url(provider.random(32)),
    async write(handle, value, context) {
      const bindingDigest = await digestBinding(context, provider.digest)
      const replaces = await findReplacedValue(context)
      const envelope = createEnvelope(value, context, { codecOptions, bindingDigest })
      const envelopeText = stringifyEnvelope({ ...envelope, replaces })
      if (envelopeText.length > maxRecordCharacters) throw recordTooLargeError(envelopeText.length, value)
      // The expiry in the envelope decides whether a value opens. The store may keep it a little longer.
      const ownedStore = guardedStore.forOwner(context.owner)
      const wasAdded = await ownedStore.add(
        await deriveKey(handle),
        `${JSON.stringify(context.purpose)}\n${envelopeText}`,
        envelope.until - envelope.at + clockSkewMs,
      )
      if (!wasAdded)
        throw new StateUsageError('configuration', 'The random source of the platform returned the same handle twice')
      if (replaces !== undefined) await ownedStore.expire(replaces.key, replacedTtlMs)
    },
    async read(handle, context) {
      checkPurpose(context.purpose)
      if (!isHandle(handle)) throw new StateError('malformed', 'It is not a handle')
      const record = await guardedStore.get(await deriveKey(handle))
      if (record === undefined)
        throw new StateError('missing', 'The store has no value under this handle; it may have expired')
      const purposeEnd = record.indexOf('\n')
      const bindingDigest = await digestBinding(context, provider.digest)
      const envelope = parseEnvelope(record.slice(purposeEnd + 1))
      const value = openEnvelope(envelope, context, { codecOptions, bindingDigest })
      if (record.slice(0, purposeEnd) !== JSON.stringify(context.purpose)) {
        throw new StateError('purpose', `It was not made for "${context.purpose}"`)
      }
      if (envelope.replaces !== undefined) await deleteReplacedValue(envelope.replaces, context.owner)
      return value
    },
  }
}

function recordTooLargeError(characterCount: number, value: JsonValue): StateUsageError {
  const entries = describeLargestEntries(value)
  const message = `The state has ${characterCount} characters; the limit is ${maxRecordCharacters}. The largest entries: ${entries}. Store less`
  return new StateUsageError('too_large', message)
}

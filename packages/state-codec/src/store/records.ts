import { type ClaimRules, checkPurpose, claimRules, clockSkewMs } from '../claims/claim-rules.ts'
import { bindingDigest, readEnvelope, writeEnvelope } from '../claims/envelope.ts'
import { largestEntries } from '../claims/largest-entries.ts'
import type { JsonValue } from '../json.ts'
import type { ClaimOptions, OpenClaims, SealClaims } from '../state-codec.ts'
import { StateError, StateUsageError } from '../state-error.ts'
import { encodeBase64url, isCanonicalBase64url } from '../token/base64url.ts'
import type { Platform } from '../token/platform.ts'
import { guarded } from './reach.ts'
import type { StateStore } from './state-store.ts'

/** Values in a store, each under a random handle of 256 bits. */
export interface Records {
  readonly rules: ClaimRules
  newHandle(): string
  write(handle: string, value: JsonValue, claims: SealClaims): Promise<void>
  read(handle: string, claims: OpenClaims): Promise<JsonValue>
}

/** The length of a handle in characters. */
export const handleLength = 43

/** The most bytes of a value in a store, by default. */
const defaultMaxBytes = 1024 * 1024

/** Whether a text has the form of a handle. */
export function isHandle(text: string): boolean {
  return text.length === handleLength && isCanonicalBase64url(text)
}

/** Keeps values and their claims in a store, under the digest of their handle: who can read the store cannot open them. */
export function createRecords(store: StateStore, options: ClaimOptions, platform: Platform): Records {
  const rules = claimRules(options, defaultMaxBytes)
  const random = options.random ?? platform.random
  const reached = guarded(store)
  const keyOf = async (handle: string): Promise<string> =>
    `state:${await platform.digest(`x/state-codec handle ${handle}`)}`
  return {
    rules,
    newHandle: () => encodeBase64url(random(32)),
    async write(handle, value, claims) {
      const bind = await bindingDigest(claims, platform.digest)
      const { text, ttlMs } = writeEnvelope(value, claims, { rules, bind })
      if (text.length > rules.maxBytes) throw tooLarge(text.length, value, rules.maxBytes)
      // The envelope's own time decides; the store may keep it a little longer.
      const added = await reached.add(
        await keyOf(handle),
        `${JSON.stringify(claims.purpose)}\n${text}`,
        ttlMs + clockSkewMs,
      )
      if (!added) throw new StateUsageError('configuration', 'random() gave the same handle twice: use the default')
    },
    async read(handle, claims) {
      checkPurpose(claims.purpose)
      if (!isHandle(handle)) throw new StateError('malformed', 'It is not the form of a handle')
      const record = await reached.get(await keyOf(handle))
      if (record === undefined) throw new StateError('missing', 'The store has nothing under this handle, or no longer')
      const end = record.indexOf('\n')
      const bind = await bindingDigest(claims, platform.digest)
      const value = readEnvelope(record.slice(end + 1), claims, { rules, bind })
      if (record.slice(0, end) === JSON.stringify(claims.purpose)) return value
      throw new StateError('purpose', `It was not made for "${claims.purpose}"`)
    },
  }
}

function tooLarge(bytes: number, value: JsonValue, maxBytes: number): StateUsageError {
  const entries = largestEntries(value)
  const message = `The state has ${bytes} characters, the most is ${maxBytes}. The largest entries: ${entries}. Keep less`
  return new StateUsageError('too_large', message)
}

import { isJsonObject, platformRuntime, randomId, retryUnavailable, sleep, storeOfOwner } from '@x/core'
import { isStateError, type StateCodec, StateError, type StateStore } from '@x/state-codec'
import type { AuthStore } from '../client/store.ts'
import { sha256 } from '../digest.ts'
import { ticketTtlMs } from './login-tickets.ts'

const dayMs = 24 * 3_600_000
// limit: stored token | ms | a token of a user at a gateway without renewal | the user must log in again
const tokenTtlMs = 30 * dayMs
/**
 * Afterwards the gateway registers itself again. Without the registration for which it was issued, no token can be
 * renewed.
 */
const clientTtlMs = 365 * dayMs
export const maxRecordTtlMs = clientTtlMs
/** An instance that has ended may hold a lock for so long. A request for a token ends before. */
const lockTtlMs = 60_000
const lockPollMs = 100
/** A store that restarts or fails over is away for less. */
const writeRetryMs = 10_000
const background = { clock: platformRuntime, isBackground: true }
/** Owns the registrations of the gateway, which all users share. */
const sharedOwner = 'clients'

/**
 * Shows of a shared store the records of one user. Each record is sealed, and opens only under its own key and for its
 * own user; it counts against the user's quota in the store. All users share the registrations of the gateway as a
 * client, which `codec` seals too.
 */
export async function createLoginStore(
  options: { readonly store: StateStore; readonly codec: StateCodec },
  user: string,
): Promise<AuthStore> {
  const [own, shared] = await Promise.all([createOwnedStore(options, user), createOwnedStore(options, sharedOwner)])
  const storeOf = (key: string): OwnedStore => (key.startsWith('client ') ? shared : own)
  return {
    get: (key) => storeOf(key).get(key),
    set: (key, value) => storeOf(key).set(key, value),
    delete: (key) => storeOf(key).delete(key),
    lock: (key, run) => storeOf(key).lock(key, run),
  }
}

function ttlOf(key: string): number {
  // Every opened link leaves a record of a pending login, so an abandoned one must not count for long.
  if (key.startsWith('flow ') || key.startsWith('logins ')) return ticketTtlMs
  return key.startsWith('client ') ? clientTtlMs : tokenTtlMs
}

async function createOwnedStore(
  { store, codec }: Parameters<typeof createLoginStore>[0],
  user: string,
): Promise<OwnedStore> {
  const owner = `login:${await sha256(user)}`
  return new OwnedStore(storeOfOwner(store, owner), codec, owner)
}

interface Slot {
  readonly name: string
  readonly writes: number
  readonly value: string
}

/**
 * One owner's records in a store that can add and delete, and cannot replace. A record alternates between two keys, so
 * that it can be read at any moment, and an instance that ends during a write leaves the old value or the new one.
 */
class OwnedStore implements Required<AuthStore> {
  readonly #store: StateStore
  readonly #codec: StateCodec
  readonly #owner: string

  constructor(store: StateStore, codec: StateCodec, owner: string) {
    this.#store = store
    this.#codec = codec
    this.#owner = owner
  }

  async get(key: string): Promise<string | undefined> {
    // Read twice if absent: a write may have moved the record between the two reads.
    return ((await this.#findNewest(key)) ?? (await this.#findNewest(key)))?.value
  }

  /** The value may be a token that was just renewed, so a store that is away for a moment must not lose it. */
  set(key: string, value: string): Promise<void> {
    return retryUnavailable(() => this.#replace(key, value), { ...background, timeoutMs: writeRetryMs })
  }

  async #replace(key: string, value: string): Promise<void> {
    await this.#runAlone(`write ${key}`, async () => {
      const newest = await this.#findNewest(key)
      const [first, second] = await this.#namesOf(key)
      const next = newest?.name === first ? second : first
      const writes = (newest?.writes ?? 0) + 1
      const ttlMs = ttlOf(key)
      const sealed = await this.#codec.seal({ writes, value }, { ...this.#claimsOf(next), ttlMs })
      // An interrupted write may have left an older value there.
      if (!(await this.#store.add(next, sealed, ttlMs))) {
        await this.#store.delete(next)
        await this.#store.add(next, sealed, ttlMs)
      }
      if (newest !== undefined) await this.#store.delete(newest.name)
    })
  }

  async delete(key: string): Promise<void> {
    await this.#runAlone(`write ${key}`, async () => {
      for (const name of await this.#namesOf(key)) await this.#store.delete(name)
    })
  }

  /**
   * Only one instance at a time runs a function under this key.
   *
   * @throws StateError with `unavailable` after a minute of waiting.
   */
  lock<T>(key: string, run: () => Promise<T>): Promise<T> {
    return this.#runAlone(`lock ${key}`, run)
  }

  async #runAlone<T>(key: string, run: () => Promise<T>): Promise<T> {
    const name = await this.#nameOf(key)
    const id = randomId()
    const startedAt = platformRuntime.monotonicNow()
    while (!(await this.#store.add(name, id, lockTtlMs))) {
      if (platformRuntime.monotonicNow() - startedAt > lockTtlMs)
        throw new StateError('unavailable', 'Another instance holds the lock of a login')
      await sleep(lockPollMs, { clock: platformRuntime })
    }
    try {
      return await run()
    } finally {
      const unlock = (): Promise<void> => this.#unlock(name, id)
      // The result of the function does not wait for a store that is away. A lock that cannot be released expires.
      await unlock().catch(() => void retryUnavailable(unlock, { ...background, timeoutMs: lockTtlMs }).catch(() => {}))
    }
  }

  async #unlock(name: string, id: string): Promise<void> {
    if ((await this.#store.get(name)) === id) await this.#store.delete(name)
  }

  async #findNewest(key: string): Promise<Slot | undefined> {
    const slots = await Promise.all((await this.#namesOf(key)).map((name) => this.#readSlot(name)))
    const [first, second] = slots
    return (first?.writes ?? 0) > (second?.writes ?? 0) ? first : second
  }

  /** A value that was sealed with a key that is gone counts as absent. */
  async #readSlot(name: string): Promise<Slot | undefined> {
    const sealed = await this.#store.get(name)
    if (sealed === undefined) return undefined
    try {
      const content = await this.#codec.open(sealed, this.#claimsOf(name))
      if (!isJsonObject(content)) return undefined
      const { writes, value } = content
      return typeof writes === 'number' && typeof value === 'string' ? { name, writes, value } : undefined
    } catch (error) {
      if (isStateError(error)) return undefined
      throw error
    }
  }

  #claimsOf(name: string): Parameters<StateCodec['open']>[1] {
    return { purpose: 'auth.login-record', binding: name }
  }

  async #namesOf(key: string): Promise<readonly [string, string]> {
    const name = await this.#nameOf(key)
    return [`${name}:0`, `${name}:1`]
  }

  /** A key contains addresses, so its digest is stored in its place. */
  async #nameOf(key: string): Promise<string> {
    return `${this.#owner}:${await sha256(key)}`
  }
}

import type { Runtime } from '@x/core'
import type { Server } from '@x/exchange'
import type { JsonValue } from '@x/schema'
import { type Log, type SealOptions, sealedState, type ServerDefinition, type StateCodec } from '@x/server'

/**
 * What a test gives to every instance of a server: a common key, with which each can open the states of all others,
 * strict replay, and the test's log.
 */
export interface ServerKit {
  readonly state: StateCodec
  readonly strictReplay: boolean
  readonly log: Log
  /** Runtime of the test, if it has one. */
  readonly runtime?: Partial<Runtime> | undefined
  /** Rules for load shedding, for tests that stop calls at their steps. */
  readonly shedding?: ServerDefinition['shedding']
}

/**
 * Makes one instance of a server: `(kit) => createServer({ ...definition, ...kit })`. All instances share the kit, and
 * the objects in the definition.
 */
export type ServerFactory<S extends Server = Server> = (kit: ServerKit) => S

/** What was sealed, with its claims. */
export interface SealedValue {
  readonly value: JsonValue
  readonly claims: SealOptions
}

/** The kit of one test, and what the instances used of it. */
export interface TrackedKit {
  readonly kit: ServerKit
  /** True if a factory has read this member of the kit. */
  isUsed(member: keyof ServerKit): boolean
  /** All that was sealed, by its token, in the order of sealing. */
  readonly sealedValues: ReadonlyMap<string, SealedValue>
}

export function createKit({ runtime, shedding, ...others }: Omit<ServerKit, 'state'>): TrackedKit {
  const usedMembers = new Set<string>()
  const sealedValues = new Map<string, SealedValue>()
  const now = runtime?.now
  const key = crypto.getRandomValues(new Uint8Array(32))
  const codec = sealedState({ keys: [key], ...(now !== undefined && { runtime: { now } }) })
  const state: StateCodec = {
    ...codec,
    async seal(value, claims) {
      const token = await codec.seal(value, claims)
      sealedValues.set(token, { value, claims })
      return token
    },
  }
  const members: ServerKit = {
    state,
    ...others,
    ...(runtime !== undefined && { runtime }),
    ...(shedding !== undefined && { shedding }),
  }
  return {
    kit: trackKitUse(members, usedMembers),
    isUsed: (member) => usedMembers.has(member),
    sealedValues,
  }
}

/** Records which members are read. A spread reads all of them. */
function trackKitUse(members: ServerKit, usedMembers: Set<string>): ServerKit {
  return new Proxy(members, {
    get: (target, name, receiver) => {
      if (typeof name === 'string') usedMembers.add(name)
      return Reflect.get(target, name, receiver)
    },
  })
}

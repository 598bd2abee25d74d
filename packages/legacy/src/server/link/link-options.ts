import type { JsonObject } from '@x/schema'
import type { StateStore } from '@x/state-codec'

/** Carries short messages between the instances of a server: any `ChangeBus` of `@x/server` is one. */
export interface LinkBus {
  /** Sends to every instance that listens. Rejects when the message could not be delivered to the bus. */
  publish(change: { readonly topic: string; readonly data?: JsonObject | undefined }): Promise<void>
  /** Listens until the function that it resolves with is called. `onGap`: messages may have been lost. */
  listen(listener: {
    readonly onChange: (change: { readonly topic: string; readonly data?: JsonObject | undefined }) => void
    readonly onGap: () => void
  }): Promise<() => void>
}

/** The link of the instances of a server: a store that they share, and a bus that wakes them. */
export interface LegacyLink {
  /**
   * Keeps calls that wait, their answers, and what sessions have set: `redisStore` or `postgresStore` of
   * `@x/state-codec`.
   */
  readonly store: StateStore
  /** Carries the names of what changed: `redisBus` or `postgresBus` of `@x/server`. */
  readonly bus: LinkBus
}

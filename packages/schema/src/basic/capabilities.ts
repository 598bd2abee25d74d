import type { JsonObject } from '@x/core'
import { boolean, jsonObject, map, optional, type Shape, shape } from './shape.ts'

/** Settings by the name of a capability or extension. An empty object means support without settings. */
export type CapabilitySettings = {
  readonly [name: string]: JsonObject
}

/**
 * The capabilities of a client, sent with every request (basic/index, statelessness). An empty object means only the
 * required ones. Peers may send further keys.
 */
export type ClientCapabilities = {
  /** Answers elicitation requests. Without modes it means `form` (client/elicitation). */
  readonly elicitation?: { readonly form?: JsonObject | undefined; readonly url?: JsonObject | undefined } | undefined
  /** Non-standard capabilities. */
  readonly experimental?: CapabilitySettings | undefined
  /** Extensions, by identifier with prefix. */
  readonly extensions?: CapabilitySettings | undefined
  /** Lists roots (client/roots). Deprecated by the specification. */
  readonly roots?: JsonObject | undefined
  /** Samples a model, optionally with context or tools (client/sampling). Deprecated by the specification. */
  readonly sampling?: { readonly context?: JsonObject | undefined; readonly tools?: JsonObject | undefined } | undefined
}

const capabilitySettings: Shape<CapabilitySettings> = map(jsonObject)

/** The shape of {@link ClientCapabilities}. */
export const clientCapabilities = shape<ClientCapabilities>({
  elicitation: optional(
    shape<NonNullable<ClientCapabilities['elicitation']>>({ form: optional(jsonObject), url: optional(jsonObject) }),
  ),
  experimental: optional(capabilitySettings),
  extensions: optional(capabilitySettings),
  roots: optional(jsonObject),
  sampling: optional(
    shape<NonNullable<ClientCapabilities['sampling']>>({ context: optional(jsonObject), tools: optional(jsonObject) }),
  ),
})

/** Support for change notifications of a list. */
export type ListCapability = {
  /** Sends `list_changed` to subscribers (basic/patterns/subscriptions). */
  readonly listChanged?: boolean | undefined
}

/** The capabilities of a server in its `server/discover` result (server/discover). Peers may send further keys. */
export type ServerCapabilities = {
  /** Completes arguments (server/utilities/completion). */
  readonly completions?: JsonObject | undefined
  /** Non-standard capabilities. */
  readonly experimental?: CapabilitySettings | undefined
  /** Extensions, by identifier with prefix. */
  readonly extensions?: CapabilitySettings | undefined
  /** Sends log messages to requests that ask for them (server/utilities/logging). */
  readonly logging?: JsonObject | undefined
  /** Offers prompts (server/prompts). */
  readonly prompts?: ListCapability | undefined
  /** Offers resources, optionally with notifications of their changes (server/resources). */
  readonly resources?:
    | { readonly listChanged?: boolean | undefined; readonly subscribe?: boolean | undefined }
    | undefined
  /** Offers tools (server/tools). */
  readonly tools?: ListCapability | undefined
}

const listCapability = shape<ListCapability>({ listChanged: optional(boolean) })

/** The shape of {@link ServerCapabilities}. */
export const serverCapabilities = shape<ServerCapabilities>({
  completions: optional(jsonObject),
  experimental: optional(capabilitySettings),
  extensions: optional(capabilitySettings),
  logging: optional(jsonObject),
  prompts: optional(listCapability),
  resources: optional(
    shape<NonNullable<ServerCapabilities['resources']>>({
      listChanged: optional(boolean),
      subscribe: optional(boolean),
    }),
  ),
  tools: optional(listCapability),
})

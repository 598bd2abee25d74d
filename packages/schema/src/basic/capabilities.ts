import type { JsonObject } from '@x/core'
import { boolean, jsonObject, map, optional, type Shape, shape } from './shape.ts'

/** Settings of capabilities or extensions, by name. An empty object means support without settings. */
export type CapabilitySettings = {
  readonly [name: string]: JsonObject
}

/**
 * What a client can do, sent with every request (basic/index, statelessness). An empty object declares no optional
 * capability. Peers may send further keys.
 */
export type ClientCapabilities = {
  /** Present if the client answers elicitation requests. An empty object means the mode `form` (client/elicitation). */
  readonly elicitation?: { readonly form?: JsonObject | undefined; readonly url?: JsonObject | undefined } | undefined
  /** Non-standard capabilities. */
  readonly experimental?: CapabilitySettings | undefined
  /** Settings of extensions, by identifier with prefix. */
  readonly extensions?: CapabilitySettings | undefined
  /** Present if the client lists roots (client/roots). Deprecated by the specification. */
  readonly roots?: JsonObject | undefined
  /**
   * Present if the client samples a model, optionally with context or tools (client/sampling). Deprecated by the
   * specification.
   */
  readonly sampling?: { readonly context?: JsonObject | undefined; readonly tools?: JsonObject | undefined } | undefined
}

const capabilitySettings: Shape<CapabilitySettings> = map(jsonObject)

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
  /** True if the server sends `list_changed` notifications to subscribers (basic/patterns/subscriptions). */
  readonly listChanged?: boolean | undefined
}

/** What a server can do, in its `server/discover` result (server/discover). Peers may send further keys. */
export type ServerCapabilities = {
  /** Present if the server completes arguments (server/utilities/completion). */
  readonly completions?: JsonObject | undefined
  /** Non-standard capabilities. */
  readonly experimental?: CapabilitySettings | undefined
  /** Settings of extensions, by identifier with prefix. */
  readonly extensions?: CapabilitySettings | undefined
  /** Present if the server sends log messages for requests that ask for them (server/utilities/logging). */
  readonly logging?: JsonObject | undefined
  /** Present if the server offers prompts (server/prompts). */
  readonly prompts?: ListCapability | undefined
  /** Present if the server offers resources, optionally with notifications of their changes (server/resources). */
  readonly resources?:
    | { readonly listChanged?: boolean | undefined; readonly subscribe?: boolean | undefined }
    | undefined
  /** Present if the server offers tools (server/tools). */
  readonly tools?: ListCapability | undefined
}

const listCapability = shape<ListCapability>({ listChanged: optional(boolean) })

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

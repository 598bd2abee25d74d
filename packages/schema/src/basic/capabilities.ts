import type { JsonObject } from './json.ts'

/** Settings by the name of a capability or extension; an empty object means support without settings. */
export type CapabilitySettings = {
  readonly [name: string]: JsonObject
}

/**
 * What a client can do, said anew with every request (basic/index, statelessness). An empty object means nothing beyond
 * the required; peers may send more keys than are named here.
 */
export type ClientCapabilities = {
  /** Answers elicitation requests; without modes it means `form` (client/elicitation). */
  readonly elicitation?: { readonly form?: JsonObject | undefined; readonly url?: JsonObject | undefined } | undefined
  /** Capabilities outside any standard. */
  readonly experimental?: CapabilitySettings | undefined
  /** Extensions, by identifier with prefix. */
  readonly extensions?: CapabilitySettings | undefined
  /** Lists roots (client/roots). Deprecated by the specification. */
  readonly roots?: JsonObject | undefined
  /** Samples a model, perhaps with context or tools (client/sampling). Deprecated by the specification. */
  readonly sampling?: { readonly context?: JsonObject | undefined; readonly tools?: JsonObject | undefined } | undefined
}

/** Whether the server tells of changes to a list. */
export type ListCapability = {
  /** Sends `list_changed` to those who listen (basic/patterns/subscriptions). */
  readonly listChanged?: boolean | undefined
}

/** What a server can do, as `server/discover` answers it (server/discover). Peers may send more keys than these. */
export type ServerCapabilities = {
  /** Completes arguments (server/utilities/completion). */
  readonly completions?: JsonObject | undefined
  /** Capabilities outside any standard. */
  readonly experimental?: CapabilitySettings | undefined
  /** Extensions, by identifier with prefix. */
  readonly extensions?: CapabilitySettings | undefined
  /** Sends log messages to those who ask (server/utilities/logging). */
  readonly logging?: JsonObject | undefined
  /** Offers prompts (server/prompts). */
  readonly prompts?: ListCapability | undefined
  /** Offers resources, and perhaps tells when one changed (server/resources). */
  readonly resources?:
    | { readonly listChanged?: boolean | undefined; readonly subscribe?: boolean | undefined }
    | undefined
  /** Offers tools (server/tools). */
  readonly tools?: ListCapability | undefined
}

import type {
  ClientCapabilities,
  Implementation,
  JsonValue,
  LoggingLevel,
  Principal,
  RequestMetaObject,
} from '@x/schema'

/** What a handler knows of the request that it serves. It may be taken apart: its functions need no `this`. */
export interface Context {
  /** Aborts when nobody wants the answer any more. */
  readonly signal: AbortSignal
  /** Who asks, as the transport authenticated them; the one thing here that decisions may rest on. */
  readonly principal: Principal | undefined
  /** Who asks, as they describe themselves. */
  readonly client: ClientView
  /** The request's `_meta`, with the keys of extensions and of trace context. */
  readonly meta: RequestMetaObject
  /** Whether the client declared, for this request, that it can do something. */
  can(feature: ClientFeature): boolean
  /**
   * Tells how far the work is, if the client asked to be told. A value that is not greater than the last is dropped, as
   * is everything after the call has ended (basic/patterns/progress).
   */
  progress(progress: number, total?: number, message?: string): void
  /**
   * Sends a log message, if the client asked for this level. Nothing is sent after the call has ended. Keep
   * credentials and personal data out of it (server/utilities/logging, security).
   */
  log(level: LoggingLevel, data: JsonValue, logger?: string): void
}

/** A client as its request describes it. */
export interface ClientView {
  /** The revision of the protocol that the request is written in. */
  readonly version: string
  /** The client's software: for display, not for decisions. */
  readonly info: Implementation | undefined
  readonly capabilities: ClientCapabilities
}

/** What a client may be able to do; an identifier with a slash is an extension. */
export type ClientFeature =
  | 'elicitation'
  | 'elicitation.form'
  | 'elicitation.url'
  | 'sampling'
  | 'sampling.context'
  | 'sampling.tools'
  | 'roots'
  | `${string}/${string}`

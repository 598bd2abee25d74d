import type { ClientCapabilities, Clock, Icon, Implementation, JsonSchemaCompiler } from '@x/schema'
import type { CacheOptions } from './caching/cache-store.ts'
import type { InputHandlers } from './rounds/input-handlers.ts'
import type { RoundOptions } from './rounds/round-options.ts'

/** Something about a tool that its user should know. */
export interface ClientWarning {
  /** `tool_refused`: left out of the lists. `schema_refused`: its output cannot be checked. */
  readonly code: 'tool_refused' | 'schema_refused'
  readonly tool: string
  readonly reason: string
}

/** What `createClient` takes. */
export interface ClientOptions extends InputHandlers {
  /** The program that calls, as servers see it. */
  readonly name: string
  readonly version: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly websiteUrl?: string | undefined
  readonly icons?: readonly Icon[] | undefined
  /** `false`: do not say to servers who calls. */
  readonly sendClientInfo?: boolean | undefined
  /**
   * What this client can do; sent with every request, with what follows from the handlers. What is named here without a
   * handler is answered through `client.manual` alone.
   */
  readonly capabilities?: ClientCapabilities | undefined
  /** How calls go on when servers ask for input. */
  readonly rounds?: RoundOptions | undefined
  /** The revisions to speak, the preferred first. Default: this package's one. */
  readonly versions?: readonly [string, ...string[]] | undefined
  /** `false`: ask the server every time. Default: a cache of this client's own, which must then serve one principal. */
  readonly cache?: false | CacheOptions | undefined
  /** How long a call waits for its response or the next progress, in milliseconds. Default 60 seconds. */
  readonly timeoutMs?: number | undefined
  /** How long a call waits whatever progress is made, in milliseconds. Default ten times its `timeoutMs`. */
  readonly maxTotalMs?: number | undefined
  /**
   * How often a call is sent again whose server says that it has not begun it, since it is overloaded or stops. Default 3; 0 for never. Waiting
   * for it takes no longer than `timeoutMs`.
   */
  readonly retries?: number | undefined
  /** How many pages a list may have. Default 1000. */
  readonly maxPages?: number | undefined
  /** Told of tools that were left out or cannot be checked. */
  readonly onWarning?: ((warning: ClientWarning) => void) | undefined
  /** Checks structured results against the tool's output schema; a tool not listed before is looked up once. */
  readonly validateOutput?: JsonSchemaCompiler | undefined
  readonly clock?: Clock | undefined
}

/** The client's software as requests carry it. */
export function clientInfoOf(options: ClientOptions): Implementation {
  const { name, version, title, description, websiteUrl, icons } = options
  return {
    name,
    version,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(websiteUrl !== undefined && { websiteUrl }),
    ...(icons !== undefined && { icons }),
  }
}

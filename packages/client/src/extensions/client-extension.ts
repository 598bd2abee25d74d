import { createLog, type Log, type OptionTable, type ResolvedOptions, resolveOptions } from '@x/core'
import type { ConnectionPeer, LiteralName, Middleware } from '@x/exchange'
import type { ClientCapabilities } from '@x/schema'
import type { ClientCallSteps } from '../rounds/client-call-steps.ts'
import type { Client } from '../client.ts'
import {
  clientConstantsOf,
  type CoreClientOptions,
  coreClientOptionTable,
  withClientConstants,
} from '../request/options.ts'
import type { ClientEvent } from '../request/client-event.ts'
import type { SendCall } from '../rounds/wrapped-calls.ts'
import type { ExtensionRequest } from '../request/request.ts'

declare const apiType: unique symbol

/**
 * Adds methods, capabilities or result types to a client. An extension is a plain value in the option `extensions` of
 * `createClient`, and may serve several clients, because `start` creates the state of each.
 */
export interface ClientExtension<Name extends string = string, Api extends object | undefined = object | undefined> {
  /** Distinguishes it from an extension of servers, which a client does not accept. */
  readonly extends: 'client'
  /**
   * Name of the member that the client gets: `tasks` adds `client.tasks`. `createClient` throws a `TypeError` if the
   * client has that member already.
   */
  readonly name: Name
  /**
   * The extension's identifier in the protocol: a reversed domain name and a name, such as `com.example/quota`. Absent
   * if servers cannot notice the extension.
   */
  readonly identifier?: string | undefined
  /** Declared by every request, in addition to the client's own. */
  readonly capabilities?: ClientCapabilities | undefined
  /** Creates the extension's part of one client. Must not send requests. */
  start?(host: ClientExtensionHost): ClientExtensionInstance<Api>
  readonly [apiType]?: Api
}

/** What a client lets its extensions use. */
export interface ClientExtensionHost extends ClientCallSteps {
  /** The client's options, with its extensions' capabilities. */
  readonly options: CoreClientOptions
  /** Calls a method of the extension, through the client's middleware. */
  readonly request: ExtensionRequest
  /** Name and version of the server, as in {@link Client.serverInfo}. */
  readonly server: Client['serverInfo']
  /** The server's revision, as `peer` of its connection has it. */
  readonly peer: ConnectionPeer | undefined
  /**
   * Calls a tool, or reads a prompt or a resource, through all its rounds. For a `resultType` that the client does not
   * know, the outcome is `other`.
   */
  readonly sendCall: SendCall
  /**
   * Creates another client on the same connection, with the same options and a middleware around its exchange. It lacks
   * this extension, yet declares its capabilities.
   */
  fork(middleware: Middleware, changes?: Partial<CoreClientOptions>): Client
}

/** What an extension adds to one client. */
export interface ClientExtensionInstance<Api extends object | undefined = object | undefined> {
  /** Value of the client's member with the extension's name. Without it, the client gets no member. */
  readonly api?: Api
  /** Goes around every request, inside the middleware of the option `use`. */
  readonly middleware?: Middleware | undefined
  /**
   * Goes around every call of a tool, prompt or resource, all rounds included. Use it to handle a `resultType` of your
   * own, or to measure.
   */
  readonly wrapCall?: ((next: SendCall) => SendCall) | undefined
  /**
   * Receives the client's events. What it throws is logged, and changes nothing. Without an observing extension, events
   * are not even created.
   */
  observe?(event: ClientEvent): void
  /** Closes what the extension opened. */
  close?(): Promise<void>
}

/** Options of `createClient`. */
export interface ClientOptions<Extensions extends readonly ClientExtension[] = readonly ClientExtension[]>
  extends CoreClientOptions {
  /** Extensions, such as `tasksClient()` of `@x/tasks/client`. */
  readonly extensions?: Extensions | undefined
}

const clientOptionTable = {
  ...coreClientOptionTable,
  extensions: { type: { name: 'an array of extensions, such as [tasksClient()]', accepts: Array.isArray } },
} satisfies OptionTable<ClientOptions>

/** A client's options with their defaults, its log, and its extensions' capabilities. */
export type ResolvedClientOptions = ResolvedOptions<ClientOptions, typeof clientOptionTable> & { readonly log: Log }

/** Fills in the defaults. Throws a `TypeError` for an unknown option. */
export function resolveClientOptions(options: ClientOptions): ResolvedClientOptions {
  const resolved = resolveOptions<ClientOptions, typeof clientOptionTable>(options, clientOptionTable, 'createClient')
  // Not a spread: for each object with a property after a spread, V8 creates a hidden class that lives as long as the
  // client.
  return Object.assign(resolved, {
    capabilities: withExtensionCapabilities(options.capabilities, options.extensions ?? []),
    log: createLog(options.log, '@x/client'),
    ...withClientConstants(clientConstantsOf(options)),
  })
}

/** What a list of extensions adds to a client. */
export type ClientApis<Extensions extends readonly ClientExtension[]> = {
  readonly [E in Extensions[number] as E extends ClientExtension<string, infer Api>
    ? Api extends object
      ? LiteralName<E['name']>
      : never
    : never]: E extends ClientExtension<string, infer Api> ? Api : never
}

/**
 * Throws a `TypeError` for an extension of servers, and for a name that is in use. Its message explains the correction.
 */
export function checkClientExtensions(extensions: readonly ClientExtension[], ownMembers: readonly string[]): void {
  const usedNames = new Set(ownMembers)
  for (const extension of extensions) {
    // A common mistake without types: the factory of an extension in place of its result.
    const extensionValue: unknown = extension
    if (
      typeof extensionValue !== 'object' ||
      extensionValue === null ||
      !('extends' in extensionValue) ||
      extensionValue.extends !== 'client'
    ) {
      throw new TypeError(
        'extensions: not a client extension; write the call, such as tasksClient(), of the entry ./client',
      )
    }
    if (usedNames.has(extension.name)) {
      throw new TypeError(`extension "${extension.name}": a member of this name exists; give the extension another`)
    }
    usedNames.add(extension.name)
  }
}

function withExtensionCapabilities(
  ownCapabilities: ClientCapabilities | undefined,
  extensions: readonly ClientExtension[],
): ClientCapabilities | undefined {
  return extensions.reduce<ClientCapabilities | undefined>((mergedCapabilities, { capabilities }) => {
    if (capabilities === undefined) return mergedCapabilities
    return {
      ...mergedCapabilities,
      ...capabilities,
      ...mergeCapabilityMember('extensions', mergedCapabilities, capabilities),
      ...mergeCapabilityMember('experimental', mergedCapabilities, capabilities),
    }
  }, ownCapabilities)
}

function mergeCapabilityMember(
  member: 'extensions' | 'experimental',
  ownCapabilities: ClientCapabilities | undefined,
  addedCapabilities: ClientCapabilities,
): ClientCapabilities {
  const mergedMember = { ...ownCapabilities?.[member], ...addedCapabilities[member] }
  return Object.keys(mergedMember).length === 0 ? {} : { [member]: mergedMember }
}

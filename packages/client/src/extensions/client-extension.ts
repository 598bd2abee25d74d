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
 * `createClient`. Several clients can use one extension, because `start` creates the state for one client.
 */
export interface ClientExtension<Name extends string = string, Api extends object | undefined = object | undefined> {
  /** Distinguishes the extension from those of servers, which a client does not accept. */
  readonly extends: 'client'
  /**
   * The name of the member that the extension adds to the client: `tasks` adds `client.tasks`. `createClient` throws a
   * `TypeError` for the name of an existing member.
   */
  readonly name: Name
  /**
   * The identifier of the extension in the protocol: a reversed domain name and a name, such as `com.example/quota`.
   * Absent for an extension that servers cannot notice.
   */
  readonly identifier?: string | undefined
  /** Capabilities that every request declares, in addition to those of the client. */
  readonly capabilities?: ClientCapabilities | undefined
  /** Creates the part of the extension for one client. This function must not send requests. */
  start?(host: ClientExtensionHost): ClientExtensionInstance<Api>
  readonly [apiType]?: Api
}

/** The parts of a client that its extensions may use. */
export interface ClientExtensionHost extends ClientCallSteps {
  /** The client's options, with the capabilities of its extensions. */
  readonly options: CoreClientOptions
  /** Calls a method of the extension, through the client's middleware. */
  readonly request: ExtensionRequest
  /** The name and version of the server, as in {@link Client.serverInfo}. */
  readonly server: Client['serverInfo']
  /** The revision of the server, as `peer` of its connection has it. */
  readonly peer: ConnectionPeer | undefined
  /**
   * Calls a tool, or reads a prompt or a resource, through all its rounds. For a `resultType` that the client does not
   * know, the outcome is `other`.
   */
  readonly sendCall: SendCall
  /**
   * Creates another client with the same connection and options, and with a middleware around its exchange. The new
   * client does not have this extension, but declares its capabilities.
   */
  fork(middleware: Middleware, changes?: Partial<CoreClientOptions>): Client
}

/** An extension's part of one client. */
export interface ClientExtensionInstance<Api extends object | undefined = object | undefined> {
  /**
   * The value of the client's member with the extension's name. If absent, the extension adds no member to the client.
   */
  readonly api?: Api
  /** Middleware around every request, inside the middleware of the option `use`. */
  readonly middleware?: Middleware | undefined
  /**
   * Wraps every call of a tool, prompt or resource, with all its rounds. An extension wraps calls to handle a
   * `resultType` of its own, or to measure them.
   */
  readonly wrapCall?: ((next: SendCall) => SendCall) | undefined
  /**
   * Receives the events of the client. An error that it throws is logged and has no other effect. Events are created
   * only for a client with an extension that observes.
   */
  observe?(event: ClientEvent): void
  /** Closes what the extension opened. */
  close?(): Promise<void>
}

/** The options of `createClient`. */
export interface ClientOptions<Extensions extends readonly ClientExtension[] = readonly ClientExtension[]>
  extends CoreClientOptions {
  /** Extensions of the client, such as `tasksClient()` of `@x/tasks/client`. */
  readonly extensions?: Extensions | undefined
}

const clientOptionTable = {
  ...coreClientOptionTable,
  extensions: undefined,
} satisfies OptionTable<ClientOptions>

/** The options of a client with their defaults, its log, and the capabilities of its extensions. */
export type ResolvedClientOptions = ResolvedOptions<ClientOptions, typeof clientOptionTable> & { readonly log: Log }

/** Completes the options of a client. Throws a `TypeError` for an unknown option. */
export function resolveClientOptions(options: ClientOptions): ResolvedClientOptions {
  const resolved = resolveOptions<ClientOptions, typeof clientOptionTable>(options, clientOptionTable, 'createClient')
  // `Object.assign` is used instead of a spread. For each object with a property after a spread, V8 creates a hidden
  // class that lives as long as the client.
  return Object.assign(resolved, {
    capabilities: withExtensionCapabilities(options.capabilities, options.extensions ?? []),
    log: createLog(options.log, '@x/client'),
    ...withClientConstants(clientConstantsOf(options)),
  })
}

/** The members that a list of extensions adds to a client. */
export type ClientApis<Extensions extends readonly ClientExtension[]> = {
  readonly [E in Extensions[number] as E extends ClientExtension<string, infer Api>
    ? Api extends object
      ? LiteralName<E['name']>
      : never
    : never]: E extends ClientExtension<string, infer Api> ? Api : never
}

/**
 * Checks a list of extensions. Throws a `TypeError` for an extension of servers, and for a name that is in use. The
 * message explains the correction.
 */
export function checkClientExtensions(extensions: readonly ClientExtension[], ownMembers: readonly string[]): void {
  const usedNames = new Set(ownMembers)
  for (const extension of extensions) {
    // Untyped code may pass the factory of an extension instead of its result, which is a common mistake.
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

/** Adds the capabilities of extensions to those that a client declares. */
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

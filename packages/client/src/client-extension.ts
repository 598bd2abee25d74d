import type { ClientCapabilities, LiteralName, Middleware } from '@x/schema'
import type { ClientCallSteps } from './client-call-steps.ts'
import type { Client } from './client.ts'
import type { CoreClientOptions } from './request/options.ts'
import type { SendToolCall } from './tools/call-tool.ts'
import type { ExtensionRequest } from './request/request.ts'

declare const apiType: unique symbol

/**
 * Adds methods, capabilities or result types to a client. A plain value, given to `createClient` in its list of
 * `extensions`. `start` makes what one client needs of it.
 */
export interface ClientExtension<Name extends string = string, Api extends object | undefined = object | undefined> {
  /** Keeps a server's extension out of a client's list. */
  readonly side: 'client'
  /** The member that it adds to the client (`tasks`: `client.tasks`). A name that is in use is a `TypeError`. */
  readonly name: Name
  /** Reverse DNS with a slash, such as `com.example/quota`. */
  readonly identifier: string
  /** Declared with every request, beside what the client declares. */
  readonly capabilities?: ClientCapabilities | undefined
  /** Makes the extension's part of one client. Sends nothing. */
  start?(host: ClientExtensionHost): ClientExtensionInstance<Api>
  readonly [apiType]?: Api
}

/** The functions of its client that an extension may use. */
export interface ClientExtensionHost extends ClientCallSteps {
  /** The client's options, with the capabilities of its extensions. */
  readonly options: CoreClientOptions
  /** Calls a method of the extension, through the client's middleware. */
  readonly request: ExtensionRequest
  /** The server's software as it last named itself. See {@link Client.serverInfo}. */
  readonly server: Client['serverInfo']
  /** Calls a tool through its rounds, as far as this client knows the result's type. */
  readonly callTool: SendToolCall
  /**
   * Makes one more client of the same connection and options, with a middleware around its exchange and without this
   * extension, whose capabilities it still declares.
   */
  fork(middleware: Middleware, changes?: Partial<CoreClientOptions>): Client
}

/** An extension's part of one client. */
export interface ClientExtensionInstance<Api extends object | undefined = object | undefined> {
  /** The member of the client that has the extension's name, none when absent. */
  readonly api?: Api
  /** Wraps every request, inside the `use` of the client. */
  readonly middleware?: Middleware | undefined
  /** Wraps every call of a tool, to complete results of the extension's own types. */
  readonly wrapToolCall?: ((next: SendToolCall) => SendToolCall) | undefined
  /** Ends what the extension opened. */
  close?(): Promise<void>
}

/** The options of `createClient`. */
export interface ClientOptions<Extensions extends readonly ClientExtension[] = readonly ClientExtension[]>
  extends CoreClientOptions {
  /** Extensions of the client, such as `tasks()` of `@x/tasks/client`. */
  readonly extensions?: Extensions | undefined
}

/** The members that a list of extensions adds to a client. */
export type ClientApis<Extensions extends readonly ClientExtension[]> = {
  readonly [E in Extensions[number] as E extends ClientExtension<string, infer Api>
    ? Api extends object
      ? LiteralName<E['name']>
      : never
    : never]: E extends ClientExtension<string, infer Api> ? Api : never
}

/** Checks a list of extensions: sides, and names that are in use. Throws a `TypeError` that says what to write. */
export function checkClientExtensions(extensions: readonly ClientExtension[], ownMembers: readonly string[]): void {
  const usedNames = new Set(ownMembers)
  for (const extension of extensions) {
    // A list may come from untyped code, where the usual mistake is the factory in place of its result.
    const extensionValue: unknown = extension
    if (
      typeof extensionValue !== 'object' ||
      extensionValue === null ||
      !('side' in extensionValue) ||
      extensionValue.side !== 'client'
    ) {
      throw new TypeError('extensions: not a client extension; write the call, such as tasks(), of the entry ./client')
    }
    if (usedNames.has(extension.name)) {
      throw new TypeError(`extension "${extension.name}": a member of this name exists; give the extension another`)
    }
    usedNames.add(extension.name)
  }
}

/** Adds the capabilities of extensions to those that a client declares. */
export function withExtensionCapabilities(
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

import { findMethodRow, type Implementation, type JsonObject } from '@x/schema'
import { type ClientIdentity, createClientIdentity } from './calling-client.ts'
import type { CallErrorContext } from './client-error.ts'
import type { ClientEventSource } from './client-event.ts'
import type { CoreClientSettings } from './options.ts'

/** Facts about the server from the answers to one client. No request relies on them. */
export interface ClientState {
  /**
   * The protocol revision of the requests. It begins with the preferred revision, and changes when the server rejects
   * that.
   */
  protocolVersion: string
  /** The protocol revisions that the client implements, the preferred one first. */
  readonly clientProtocolVersions: readonly [string, ...string[]]
  readonly url: string | undefined
  readonly identity: ClientIdentity
  readonly events: ClientEventSource
  serverInfo: Pick<Implementation, 'name' | 'version'> | undefined
  /** True once the log says that nothing listens at the address. */
  isRefusalKnown: boolean
  /** Called when a response contains the name and version of the server software. */
  readonly onServerInfo: (server: ClientState['serverInfo']) => void
}

/** Creates the state of a new client. */
export function createClientState(
  options: CoreClientSettings,
  clientVersions: ClientState['clientProtocolVersions'],
  { events, url, onServerInfo }: Pick<ClientState, 'events' | 'url' | 'onServerInfo'>,
): ClientState {
  return {
    protocolVersion: clientVersions[0],
    clientProtocolVersions: clientVersions,
    url,
    identity: createClientIdentity(options),
    events,
    serverInfo: undefined,
    isRefusalKnown: false,
    onServerInfo,
  }
}

/** The parts of a request that name its target. */
export interface CallTarget {
  readonly method: string
  readonly params: JsonObject
  readonly targetParam?: string | undefined
}

/** Returns the context of a call for its errors. */
export function errorContextOf({ method, params, targetParam }: CallTarget, state: ClientState): CallErrorContext {
  const target = params[findMethodRow(method)?.targetParam ?? targetParam ?? '']
  const { serverInfo, url } = state
  const name = serverInfo && `${serverInfo.name} ${serverInfo.version}`
  const server = name !== undefined && url ? `${name} (${url})` : (name ?? url) || undefined
  return { method, target: typeof target === 'string' ? target : undefined, server }
}

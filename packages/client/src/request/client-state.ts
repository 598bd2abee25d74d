import type { Log } from '@x/core'
import { findMethodRow, type Implementation, type JsonObject, type Root } from '@x/schema'
import type { CallErrorContext } from './client-error.ts'
import { ClientEventSource } from './client-event.ts'
import { type ClientConstants, clientConstantsOf, type CoreClientSettings } from './options.ts'
import { type CallContext, createCall, withContext } from '@x/exchange'
import { type CallingClient, callingClientKey } from '@x/exchange/internal'
import type { InputHandlers } from './input-handlers.ts'

type ServerInfo = Pick<Implementation, 'name' | 'version'>

/** What one client's calls share, with facts about the server from its answers. No request relies on the facts. */
export class ClientState {
  readonly url: string | undefined
  readonly constants: ClientConstants
  readonly identity: ReturnType<typeof createClientIdentity>
  readonly events: ClientEventSource
  readonly #onServerInfo: (serverInfo: ServerInfo) => void
  #protocolVersion: string
  #serverInfo: ServerInfo | undefined
  #isRefusalKnown = false

  /** `onServerInfo` is called when a response contains the server's name and version. */
  constructor(
    options: CoreClientSettings & { readonly log: Log },
    url: string | undefined,
    onServerInfo: (serverInfo: ServerInfo) => void,
  ) {
    this.url = url
    this.constants = clientConstantsOf(options)
    this.identity = createClientIdentity(options)
    this.events = new ClientEventSource(options.log)
    this.#onServerInfo = onServerInfo
    this.#protocolVersion = this.constants.versions[0]
  }

  /** Revision of the requests: the preferred one until a server rejects it. */
  get protocolVersion(): string {
    return this.#protocolVersion
  }

  get serverInfo(): ServerInfo | undefined {
    return this.#serverInfo
  }

  /** Selects the first revision that both sides implement. Without one, returns false and changes nothing. */
  trySelectVersion(serverVersions: readonly unknown[]): boolean {
    const commonVersion = this.constants.versions.find((version) => serverVersions.includes(version))
    if (commonVersion === undefined) return false
    this.#protocolVersion = commonVersion
    return true
  }

  setServerInfo(serverInfo: ServerInfo): void {
    this.#serverInfo = serverInfo
    this.#onServerInfo(serverInfo)
  }

  /** Notes that nothing listens at the address. True the first time, if the server has never answered. */
  noteRefusal(): boolean {
    if (this.#serverInfo !== undefined || this.#isRefusalKnown) return false
    this.#isRefusalKnown = true
    return true
  }
}

export interface CallTarget {
  readonly method: string
  readonly params: JsonObject
  readonly targetParam?: string | undefined
}

export function errorContextOf({ method, params, targetParam }: CallTarget, state: ClientState): CallErrorContext {
  const target = params[findMethodRow(method)?.targetParam ?? targetParam ?? '']
  const { serverInfo, url } = state
  const name = serverInfo && `${serverInfo.name} ${serverInfo.version}`
  const server = name !== undefined && url ? `${name} (${url})` : (name ?? url) || undefined
  return { method, target: typeof target === 'string' ? target : undefined, server }
}

/** What a connection may know of the client whose calls it sends, by way of their context. */
function createClientIdentity({ roots }: InputHandlers): {
  readonly context: CallContext
  /** Says that the client has abandoned a call; the `requestState` of its last questions identifies it. */
  abandonRound(requestState: string | undefined, reason: unknown): void
} {
  // Bounded by the calls that a person is asked about.
  const abandonListeners = new Map<string, (reason: unknown) => void>()
  const callingClient: CallingClient = {
    ...(roots !== undefined && { listRoots: () => listRootsOutsideCalls(roots) }),
    onRoundAbandoned(requestState, run) {
      abandonListeners.set(requestState, run)
      return () => void abandonListeners.delete(requestState)
    },
  }
  return {
    context: withContext(createCall(), callingClientKey, callingClient).context,
    abandonRound(requestState, reason) {
      if (requestState !== undefined) abandonListeners.get(requestState)?.(reason)
    },
  }
}

/** Servers of earlier revisions may ask for the roots outside of any call. */
async function listRootsOutsideCalls(roots: NonNullable<InputHandlers['roots']>): Promise<readonly Root[]> {
  const { signal } = new AbortController()
  return roots({ key: 'roots/list', method: 'initialize', target: undefined, round: 0, signal })
}

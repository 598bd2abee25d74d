import type { Ledger, Log, Runtime } from '@x/core'
import type { Call, Connection, ConnectionState, HttpAuthorizer, Principal } from '@x/exchange'
import type { RpcNotification, RpcRequest, RpcResponse } from '@x/schema'

/** What the parts of a proxy or gateway share. */
export interface Deps {
  /** Names the upstream in errors and in the log. */
  readonly name: string
  readonly ledger: Ledger
  readonly runtime: Runtime
  readonly log: Log
}

/** The dependencies of a hop, its limits, and what it reports about its upstream. */
export interface HopOptions extends Deps {
  /** Milliseconds without a message after which a call is given up. Default: 30 minutes. */
  readonly timeoutMs?: number | undefined
  /**
   * True if a request waits only for a while for a process that starts. Default: until it has started, or has failed.
   */
  readonly limitsStart?: boolean | undefined
  /** True if each caller has credentials of its own, and so connections of its own. */
  readonly hasCredentials?: boolean | undefined
  /** True as long as the upstream has never answered. */
  readonly isNew?: () => boolean
  /** Called for each message of the upstream. */
  readonly onAnswer?: () => void
  /** Called for a request that the upstream has not answered. */
  readonly onFailure?: (error?: unknown) => void
  /** Called with each state of a connection to the upstream, other than that of one that was closed here. */
  readonly onState?: (state: ConnectionState) => void
}

/** For whom a connection is opened. */
export interface UpstreamCaller {
  /** For an upstream with credentials of callers. Undefined for a connection that all callers share. */
  readonly principal: Principal | undefined
  /** Authorizes the requests of the connection. Undefined for an upstream without `credential`. */
  readonly auth: HttpAuthorizer | undefined
}

/** A caller's credential at an upstream. Another id needs another connection. */
export interface CallerCredential {
  readonly id: string
  readonly caller: UpstreamCaller
}

/** For an upstream that needs none, or whose function `connect` has the same credential for all callers. */
export const noCredential: CallerCredential = { id: '', caller: { principal: undefined, auth: undefined } }

/** An upstream outside of this process, as a function that opens connections to it. */
export interface UpstreamOptions {
  /**
   * Opens one more connection, such as `connectAny(url)` of `@x/legacy/client`; the proxy closes it. It is a function,
   * because a connection to a server of an older revision serves one host. An address is `https:`, or `http:` on this
   * machine, without user, password and fragment. Any other one is closed at once: the log says why, and calls get the
   * error that the upstream gave no answer. A connection that serves one host or caller is closed after 10 minutes
   * without use.
   */
  readonly connect: (caller: UpstreamCaller) => Connection
}

/** The way to one upstream. */
export interface Hop {
  /** Sends a host's request to the upstream. Resolves with an error that names the upstream if it gives no answer. */
  exchange(request: RpcRequest, call: Call, credential?: CallerCredential): Promise<RpcResponse>
  /** Forwards a notification of an extension. Those of the protocol belong to the host and the proxy. */
  notify(notification: RpcNotification, call: Call): void
  /** True if calls that wait for answers can only continue in this process. */
  readonly keepsCalls: boolean
  /** True while the server's process has not answered anything. */
  readonly isStarting: boolean
  /** Asks the upstream to describe itself, in the name of the gateway. */
  probe(): Promise<unknown>
  /** Leaves the process of an unreachable server, unless it still starts, so that the next call starts another one. */
  replaceProcess(): void
  close(): Promise<void>
}

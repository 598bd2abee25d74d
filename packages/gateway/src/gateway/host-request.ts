import type { Call } from '@x/exchange'
import type { Implementation, RpcRequest } from '@x/schema'
import type { Deps } from '../hop/hop-options.ts'
import type { GatewayState } from '../names/state.ts'
import type { Upstream } from '../upstream/upstream.ts'

export interface HostRequest {
  readonly request: RpcRequest
  readonly call: Call
  readonly parts: GatewayParts
}

/** What all requests to one gateway share. */
export interface GatewayParts extends Deps {
  readonly info: Implementation
  readonly upstreams: ReadonlyMap<string, Upstream>
  readonly state: GatewayState
  /** Names this instance in the states of calls that only its process can continue. */
  readonly instance: string
  /** Aborts when the gateway closes. */
  readonly closed: AbortSignal
}

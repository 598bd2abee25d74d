/**
 * Proxies in front of MCP servers, between any two transports and any two revisions.
 *
 * @module @x/gateway
 */

export type { Log, LogRecord, Runtime } from '@x/core'
export { type Gateway, gateway, type GatewayOptions } from './gateway/gateway.ts'
export { proxy, type ProxyOptions, type ProxyUpstream } from './gateway/proxy.ts'
export type { UpstreamCaller } from './hop/hop-options.ts'
export type { UpstreamOptions } from './hop/hop-options.ts'
export type { LoginRequired } from './hop/upstream-error.ts'
export type { ConnectionState, ConnectionStatus, ObservableState } from '@x/exchange'
export type { CredentialSource } from './upstream/credential.ts'
export type { PinStore, ToolRules } from './upstream/tool-rules.ts'
export type {
  GatewayServerOptions,
  GatewayUpstream,
  GatewayUpstreamOptions,
  GatewayUpstreamRules,
} from './upstream/upstream-options.ts'

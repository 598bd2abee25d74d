/**
 * Proxies in front of MCP servers, between any two transports and any two revisions.
 *
 * @module @x/gateway
 */

export type { Log, LogRecord, Runtime } from '@x/core'
export { type Gateway, gateway, type GatewayOptions, type UpstreamStatus } from './gateway/gateway.ts'
export type { UpstreamState } from './upstream/availability.ts'
export type { PinStore, ToolRules } from './upstream/tool-rules.ts'
export { proxy, type ProxyOptions } from './proxy.ts'
export type {
  CredentialSource,
  GatewayUpstream,
  GatewayUpstreamOptions,
  LoginRequired,
  Upstream,
  UpstreamCaller,
  UpstreamOptions,
} from './upstream/upstream.ts'

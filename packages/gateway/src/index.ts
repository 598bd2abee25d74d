/**
 * Proxies in front of MCP servers, between any two transports and any two revisions.
 *
 * @module @x/gateway
 */

export { proxy, type ProxyOptions } from './proxy.ts'
export type { Upstream, UpstreamOptions } from './upstream.ts'

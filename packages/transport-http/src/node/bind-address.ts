import type { Server } from '@x/schema'
import { unauthenticatedReason } from '../server/check-exposure.ts'
import { isLoopback, loopbackHosts, parseHost } from '../server/hosts.ts'
import type { NodeHandlerOptions } from './node-handler.ts'

/** Returns whether only this machine reaches an address. */
export function isLoopbackHost(host: string): boolean {
  const name = parseHost(formatUrlHost(host))?.name
  return name !== undefined && isLoopback(name)
}

/**
 * Rejects an address that other machines reach for a server that must not be reached.
 *
 * @throws TypeError with the reason.
 */
export function checkBindAddress(
  { localOnly, needsPrincipal }: Server,
  { authenticate }: Pick<NodeHandlerOptions, 'authenticate'>,
  host: string,
): void {
  const reason = localOnly ?? (needsPrincipal && authenticate === undefined ? unauthenticatedReason : undefined)
  if (reason !== undefined) throw new TypeError(`host "${host}" can be reached from other machines, but ${reason}`)
}

// A request to the loopback address was meant for this machine; on any other, only the operator knows its names.
export function ownHosts(host: string): readonly string[] {
  const name = parseHost(formatUrlHost(host))?.name
  if (name !== undefined && isLoopback(name)) return [...loopbackHosts, name]
  throw new TypeError(
    `host "${host}" can be reached from other machines: give allowedHosts, the names by which they call it, or "*" behind a proxy that checks them`,
  )
}

/** Returns a host as it stands in a URL. */
export function formatUrlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

import type { Server } from '@x/schema'
import { localOnlyReason } from '../server/handler-settings.ts'
import { isLoopback, loopbackHosts, parseHost } from '../server/hosts.ts'

/**
 * Rejects an address that other machines reach for a server that must not be reached.
 *
 * @throws TypeError with the reason.
 */
export function checkBindAddress(host: string, server: Server, { auth }: { readonly auth?: unknown }): void {
  const reason = findLoopbackName(host) === undefined ? localOnlyReason(server, auth) : undefined
  if (reason !== undefined) throw new TypeError(`host "${host}" can be reached from other machines, but ${reason}`)
}

/**
 * Returns the hosts that a server on a loopback address serves. A request to that address was meant for this machine.
 *
 * @throws TypeError for any other address, because its operator alone knows the names by which clients call it.
 */
export function loopbackHostsOf(host: string): readonly string[] {
  const name = findLoopbackName(host)
  if (name !== undefined) return [...loopbackHosts, name]
  throw new TypeError(
    `host "${host}" can be reached from other machines: give allowedHosts, the names by which they call it, or "*" behind a proxy that checks them`,
  )
}

/** Returns the name of an address that this machine alone reaches, undefined for any other. */
function findLoopbackName(host: string): string | undefined {
  const name = parseHost(formatUrlHost(host))?.name
  return name !== undefined && isLoopback(name) ? name : undefined
}

/** Returns a host in the form of a URL. */
export function formatUrlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

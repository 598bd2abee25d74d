import { isThisMachine } from '@x/core'
import type { Server } from '@x/exchange'
import { checkServer } from '@x/exchange/internal'
import { localOnlyReason, logSingleProcess, namesThisMachine } from '../server/handler-settings.ts'
import { loopbackHosts, parseHost } from '../server/hosts.ts'

/**
 * Checks where a server listens.
 *
 * @throws TypeError if other machines can reach the address and the server is only for this machine. The message
 * contains the reason.
 */
export function checkBindAddress(
  host: string,
  server: Server,
  {
    auth,
    allowedHosts = '*',
  }: { readonly auth?: unknown; readonly allowedHosts?: readonly string[] | '*' | undefined },
): void {
  checkServer(server, 'serveHttp')
  if (typeof host !== 'string') throw new TypeError('host must be an address or a name, as in "0.0.0.0"')
  if (findLoopbackName(host) !== undefined) return
  const reason = localOnlyReason(server, auth)
  if (reason !== undefined) throw new TypeError(`host "${host}" can be reached from other machines, but ${reason}`)
  // With other names in `allowedHosts`, the handler says it.
  if (namesThisMachine(allowedHosts)) logSingleProcess(server)
}

/**
 * `Host` names that a server on a loopback address accepts. A request to a loopback address comes from this machine, so
 * its own names are safe.
 *
 * @throws TypeError for any other address, because only its operator knows the names that clients use.
 */
export function loopbackHostsOf(host: string): readonly string[] {
  const name = findLoopbackName(host)
  if (name !== undefined) return [...loopbackHosts, name]
  throw new TypeError(
    `host "${host}" can be reached from other machines: give allowedHosts, the names by which they call it, or "*" behind a proxy that checks them`,
  )
}

function findLoopbackName(host: string): string | undefined {
  const name = parseHost(formatUrlHost(host))?.name
  return name !== undefined && isThisMachine(name) ? name : undefined
}

/** Writes a host as in a URL. */
export function formatUrlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

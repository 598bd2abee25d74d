import type { Server } from '@x/schema'
import { isLoopback, parseHost } from './hosts.ts'
import type { HandlerOptions } from './handler-settings.ts'

/**
 * Rejects options that would let other machines reach a server that is for this machine alone, or one whose calls need
 * a principal without `authenticate`.
 *
 * @throws TypeError that names the option to give.
 */
export function checkExposure(
  { localOnly, needsPrincipal }: Server,
  { allowedHosts = [], authenticate }: Pick<HandlerOptions<never>, 'allowedHosts' | 'authenticate'>,
): void {
  const reason = localOnly ?? (needsPrincipal && authenticate === undefined ? unauthenticatedReason : undefined)
  if (reason === undefined) return
  const isPublic = allowedHosts === '*' || !allowedHosts.every((host) => isLoopback(parseHost(host)?.name ?? host))
  if (isPublic) throw new TypeError(`allowedHosts lets other machines call, but ${reason}`)
}

/** The reason why such a server stays on this machine. */
export const unauthenticatedReason =
  'an extension of the server decides by the principal: give authenticate, which returns the principal of each request'

import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** Status of a refused request, and what would be right. */
export interface Refusal {
  readonly status: 401 | 403
  readonly message: string
}

/**
 * A page of another origin, and a name that was made to point at this machine (DNS rebinding), must not use the server
 * of the developer. The token says that the request is of the page that the terminal named.
 */
export function findRefusal(
  { host, origin, authorization }: Pick<IncomingHttpHeaders, 'host' | 'origin' | 'authorization'>,
  { port, token }: { readonly port: number; readonly token: string },
  needsToken: boolean,
): Refusal | undefined {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
  if (host === undefined || !hosts.includes(host)) return refuse(403, `The Host must be ${hosts.join(' or ')}`)
  if (origin !== undefined && !hosts.includes(origin.replace(/^http:\/\//, '')))
    return refuse(403, 'Only the page of this command may use it, and no page of another origin')
  if (needsToken && !isToken(authorization, token))
    return refuse(401, 'The address of the page has the token after its #: open the address that mcpx dev printed')
  return undefined
}

function refuse(status: Refusal['status'], message: string): Refusal {
  return { status, message }
}

function isToken(authorization: string | undefined, token: string): boolean {
  const given = Buffer.from(authorization ?? '')
  const expected = Buffer.from(`Bearer ${token}`)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

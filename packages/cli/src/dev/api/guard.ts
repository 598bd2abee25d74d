import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/**
 * A page of another origin, and a name that was made to point at this machine (DNS rebinding), must not use the server
 * of the developer. The token says that the request is of the page that the terminal named.
 * Returns the status of a refused request, and what would be right.
 */
export function findRefusal(
  { host, origin, authorization }: Pick<IncomingHttpHeaders, 'host' | 'origin' | 'authorization'>,
  { port, token }: { readonly port: number; readonly token: string },
  needsToken: boolean,
): { readonly status: 401 | 403; readonly message: string } | undefined {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
  if (host === undefined || !hosts.includes(host))
    return { status: 403, message: `The Host must be ${hosts.join(' or ')}` }
  if (origin !== undefined && !hosts.includes(origin.replace(/^http:\/\//, '')))
    return { status: 403, message: 'Only the page of this command may use it, and no page of another origin' }
  if (needsToken && !isToken(authorization, token))
    return {
      status: 401,
      message: 'The address of the page has the token after its #: open the address that mcpx dev printed',
    }
  return undefined
}

function isToken(authorization: string | undefined, token: string): boolean {
  const given = Buffer.from(authorization ?? '')
  const expected = Buffer.from(`Bearer ${token}`)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

import { HttpError } from './http-error.ts'
import type { IncomingResponse } from './sender.ts'

/**
 * Returns the target of a redirect that may be followed: the same request again (307, 308), within the same origin or
 * to the same host's https. Everything else is refused, because a request carries credentials, headers and arguments
 * that were meant for this server alone. Throws {@link HttpError} with the code `redirect`.
 */
export function redirectTarget(sourceUrl: URL, incoming: Pick<IncomingResponse, 'status' | 'header'>): URL {
  const { status } = incoming
  const rejectRedirect = (problem: string): never => {
    throw new HttpError('redirect', `${sourceUrl.origin} redirects (${status}) ${problem}`, {
      origin: sourceUrl.origin,
      status,
    })
  }
  const location = incoming.header('location')
  if (location === undefined || !URL.canParse(location, sourceUrl.href))
    return rejectRedirect('without a readable Location')
  const target = new URL(location, sourceUrl)
  if (status !== 307 && status !== 308)
    return rejectRedirect('in a way that does not repeat a POST; it must use 307 or 308')
  if (target.username !== '' || target.password !== '') return rejectRedirect('to an address with credentials in it')
  if (target.origin !== sourceUrl.origin && !isHttpsUpgrade(sourceUrl, target))
    return rejectRedirect(`to another origin, ${target.origin}`)
  target.hash = ''
  return target
}

// Both on their default ports: another port of the same host may belong to somebody else.
function isHttpsUpgrade(sourceUrl: URL, target: URL): boolean {
  const isToHttps = sourceUrl.protocol === 'http:' && target.protocol === 'https:'
  return isToHttps && sourceUrl.hostname === target.hostname && sourceUrl.port === '' && target.port === ''
}

/** Returns true if a status is a redirect. A browser hides its target and gives status 0. */
export function isRedirect(status: number): boolean {
  return status === 0 || status === 301 || status === 302 || status === 303 || status === 307 || status === 308
}

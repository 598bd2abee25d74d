import { isSecureUrl, isThisMachine, quoteText } from '@x/core'
import { AuthError } from './auth-error.ts'

/**
 * Parses a URL that a document or a challenge from `sourceUrl` names: https, or http if both are loopback addresses. A
 * source on another machine may not name a loopback address. Throws {@link AuthError} `unsafe_url`.
 */
export function parseSafeUrl(text: string, sourceUrl: URL, label: string): URL {
  const url = text.length <= maxUrlLength && URL.canParse(text) ? new URL(text) : undefined
  const problem = url === undefined ? 'which is not an absolute URL' : findUrlProblem(url, sourceUrl)
  if (url === undefined || problem !== undefined) {
    throw new AuthError('unsafe_url', `${label} is ${quoteText(text)}, ${problem}`)
  }
  return url
}

function findUrlProblem(url: URL, sourceUrl: URL): string | undefined {
  if (url.username !== '' || url.password !== '') return 'which holds credentials'
  if (isThisMachine(url.hostname) && !isThisMachine(sourceUrl.hostname))
    return `a loopback address, named by ${sourceUrl.origin}`
  return isSecureUrl(url) ? undefined : 'which is not https'
}

const maxUrlLength = 2048

/** The endpoint of a connection has no fragment. */
export function withoutFragment(url: string | URL): URL {
  const endpoint = new URL(url)
  endpoint.hash = ''
  return endpoint
}

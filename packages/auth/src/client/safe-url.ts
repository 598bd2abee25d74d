import { isLoopbackHost } from '../oauth-urls.ts'
import { AuthError, quoteText } from './auth-error.ts'

/**
 * Parses an address that a document or a challenge of `sourceUrl` names. Only https is allowed, or http between
 * loopback addresses. A source that is not on this machine may name no loopback address. Throws {@link AuthError}
 * `unsafe_url`.
 */
export function parseSafeUrl(text: string, sourceUrl: URL, label: string): URL {
  const url = text.length <= maxUrlLength && URL.canParse(text) ? new URL(text) : undefined
  const problem = url === undefined ? 'which is no absolute URL' : findUrlProblem(url, sourceUrl)
  if (url === undefined || problem !== undefined) {
    throw new AuthError('unsafe_url', `${label} is ${quoteText(text)}, ${problem}`)
  }
  return url
}

function findUrlProblem(url: URL, sourceUrl: URL): string | undefined {
  const isLoopbackUrl = isLoopbackHost(url.hostname)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'which is not https'
  if (url.username !== '' || url.password !== '') return 'which holds credentials'
  if (isLoopbackUrl && !isLoopbackHost(sourceUrl.hostname)) return `a loopback address, named by ${sourceUrl.origin}`
  return url.protocol === 'http:' && !isLoopbackUrl ? 'which is not https' : undefined
}

const maxUrlLength = 2048

/** Returns the endpoint without its fragment, as a connection has it. */
export function withoutFragment(url: string | URL): URL {
  const endpoint = new URL(url)
  endpoint.hash = ''
  return endpoint
}

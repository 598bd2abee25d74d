import { isThisMachine } from '@x/core'
import type { HostName, HostRule } from './hosts.ts'

/**
 * Accepted `Origin` headers: a set of origins, `'*'` for all well-formed origins, or undefined for origins of the
 * called host.
 */
export type OriginRule = ReadonlySet<string> | '*' | undefined

const originPattern = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@,]+$/

/**
 * Compiles the option `allowedOrigins`.
 *
 * @throws TypeError for an entry that no browser would send, such as one with a path or a wildcard. Also throws for `null`, because
 * every sandboxed page sends it.
 */
export function compileOrigins(origins: readonly string[] | '*' | undefined): OriginRule {
  if (origins === undefined || origins === '*') return origins
  for (const origin of origins) {
    if (isWellFormed(origin) && !origin.includes('*')) continue
    throw new TypeError(
      `allowedOrigins has "${origin}": give scheme, host and port alone, as "https://app.example.com", without a wildcard`,
    )
  }
  return new Set(origins)
}

/**
 * True if pages of an origin may send requests (basic/transports/streamable-http, security). Without a list, a page may
 * call the host from which it was loaded; one from a loopback host may also call any other loopback host, such as an
 * inspector on another port.
 */
export function isOriginAllowed(
  origin: string,
  host: HostName,
  rules: { readonly origins: OriginRule; readonly hosts: HostRule },
): boolean {
  if (!isWellFormed(origin)) return false
  if (rules.origins === '*') return true
  if (rules.origins !== undefined) return rules.origins.has(origin)
  // If every `Host` is accepted, a page that uses DNS rebinding would count as a page of the called host.
  if (rules.hosts === '*') return false
  return isSameHost(origin, host)
}

// Browsers send origins in canonical form, so any other form does not come from a browser. An origin whose scheme is
// not http or https, such as that of a browser extension, has no canonical form and is accepted unchanged.
function isWellFormed(origin: string): boolean {
  if (!originPattern.test(origin) || !URL.canParse(origin)) return false
  const url = new URL(origin)
  return url.origin === 'null' || url.origin === origin
}

function isSameHost(origin: string, host: HostName): boolean {
  const url = new URL(origin)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return false
  if (isThisMachine(url.hostname) && isThisMachine(host.name)) return true
  if (url.hostname !== host.name) return false
  if (url.port === (host.port ?? '')) return true
  return url.port === '' && host.port === (url.protocol === 'https:' ? '443' : '80')
}

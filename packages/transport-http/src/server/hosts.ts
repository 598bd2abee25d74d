/** Accepted `Host` headers: a set of `name` and `name:port` entries in canonical form, or `'*'` for all. */
export type HostRule = ReadonlySet<string> | '*'

/** What this machine calls itself. */
export const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

const hostPattern = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?$/

/** Both in canonical form. */
export interface HostName {
  readonly name: string
  readonly port: string | undefined
}

/** Parses a `Host` header (RFC 9110, section 7.2). Undefined if it is malformed. */
export function parseHost(host: string): HostName | undefined {
  const match = hostPattern.exec(host.toLowerCase())
  const name = match?.[1]
  if (name === undefined) return undefined
  const canonicalName = name.startsWith('[') ? canonicalizeAddress(name) : name
  return canonicalName === undefined ? undefined : { name: canonicalName, port: match?.[2] }
}

// An IPv6 address can be written in several ways. What the URL parser returns is canonical.
function canonicalizeAddress(name: string): string | undefined {
  const url = `http://${name}`
  return URL.canParse(url) ? new URL(url).hostname : undefined
}

/**
 * Compiles the option `allowedHosts`. A name allows every port, and `name:port` one.
 *
 * @throws TypeError for an entry that is not a host, such as a URL.
 */
export function compileHosts(hosts: readonly string[] | '*'): HostRule {
  if (hosts === '*') return hosts
  return new Set(hosts.map(canonicalizeHost))
}

function canonicalizeHost(entry: string): string {
  const host = parseHost(entry)
  if (host === undefined) {
    throw new TypeError(
      `allowedHosts has "${entry}": give a host such as "example.com", "example.com:8443" or "[::1]", or '*' in place of the list`,
    )
  }
  return host.port === undefined ? host.name : `${host.name}:${host.port}`
}

export function isHostAllowed(host: HostName, rule: HostRule): boolean {
  if (rule === '*' || rule.has(host.name)) return true
  return host.port !== undefined && rule.has(`${host.name}:${host.port}`)
}

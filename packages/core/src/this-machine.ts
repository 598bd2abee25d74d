const hostCharacters = /^[\w.:[\]-]+$/
const thisMachine = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/

/**
 * True for a name or an address that always refers to this machine: `localhost:3000`, `127.0.0.1`, `::1`, the
 * `hostname` of a URL, or the address of a socket. Any notation of an address counts, with a port or without. Names
 * under `localhost` never leave the machine (RFC 6761, section 6.3).
 */
export function isThisMachine(host: string): boolean {
  const isBareIpv6 = !host.startsWith('[') && host.split(':').length > 2
  const url = `http://${isBareIpv6 ? `[${host}]` : host}`
  return hostCharacters.test(host) && URL.canParse(url) && thisMachine.test(new URL(url).hostname)
}

/** Safe for credentials and keys: https, or http on this machine (OAuth 2.1, section 1.5). */
export function isSecureUrl({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname))
}

/**
 * Returns true for a name or an address that always refers to this machine, in the form of the `hostname` of a URL. The
 * URL parser has normalized every notation of an address. Names under `localhost` never leave the machine (RFC 6761,
 * section 6.3).
 */
export function isThisMachine(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}

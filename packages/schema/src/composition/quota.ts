import { errorCodes, McpError } from '../basic/mcp-error.ts'
import type { Call, Principal } from '../basic/exchange.ts'
import type { JsonObject } from '@x/core'
import { clientAddressKey } from './call-context.ts'

/** The quota key of callers that have neither a principal nor an address, such as callers in this process. */
const localCallerKey = 'local'

/**
 * The quota keys of principals. They are cached, because a transport may give the same principal object to many calls.
 */
const principalKeys = new WeakMap<Principal, string>()

/**
 * Returns the key under which quotas count a caller. It is made from the principal (issuer, subject and client), or
 * without a principal from the address under `clientAddressKey`. All addresses of one 64-bit IPv6 network share a key,
 * because a provider gives such a network to one customer (RFC 6177).
 */
export function callerKeyOf({ principal, context }: Pick<Call, 'principal' | 'context'>): string {
  if (principal !== undefined) return principalKeys.get(principal) ?? principalKeyOf(principal)
  const address = context.get(clientAddressKey)
  return address === undefined ? localCallerKey : normalizeAddress(address)
}

// The key of a principal begins with a bracket, and the key of an address never does. A caller with an address can
// therefore not use the quota of a principal.
function principalKeyOf(principal: Principal): string {
  const key = JSON.stringify(principalIdentityOf(principal))
  principalKeys.set(principal, key)
  return key
}

const ipv4MappedPrefix = /^::ffff:(?=\d+\.)/i
const maxAddressLength = 100

/** Returns the 64-bit network of an IPv6 address. Returns an IPv4 address or a host name itself. */
function normalizeAddress(address: string): string {
  if (!address.includes(':') && !address.startsWith('[')) return address.slice(0, maxAddressLength)
  // An address may come from a header, with brackets, a port or a zone (RFC 7239, section 6; RFC 4007, section 11).
  const bareAddress = address
    .slice(0, maxAddressLength)
    .replace(/^\[/, '')
    .replace(/[\]%].*$/s, '')
  const isMapped = ipv4MappedPrefix.test(bareAddress)
  if (isMapped) return bareAddress.replace(ipv4MappedPrefix, '')
  // Removes the port of an IPv4 address.
  if (bareAddress.includes('.')) return bareAddress.replace(/:\d*$/, '')
  return `${expandLeadingGroups(bareAddress.toLowerCase()).join(':')}::/64`
}

function expandLeadingGroups(address: string): readonly string[] {
  const [head = '', tail] = address.split('::', 2)
  const headGroups = head === '' ? [] : head.split(':')
  const tailGroups = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeroGroups = Array.from({ length: Math.max(0, 8 - headGroups.length - tailGroups.length) }, () => '0')
  return [...headGroups, ...zeroGroups, ...tailGroups].slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''))
}

/**
 * The `data.reason` of the error for a caller whose quota is full. The HTTP transport answers it with the status 429
 * (RFC 6585, section 4).
 */
export const quotaReason = 'quota'

/**
 * Creates the error for a caller whose quota is full. Its message and its `data` name the limit and the time after which
 * the caller may try again.
 */
export function quotaError({
  limit,
  max,
  retryAfterMs,
  advice,
}: {
  /** The `LedgerKind` that the quota limits, such as `streams`. */
  readonly limit: string
  readonly max: number
  /** Milliseconds until another attempt may succeed. Undefined if waiting does not help. */
  readonly retryAfterMs: number | undefined
  /** An action of the caller that makes room in the quota, such as `end a subscription`. */
  readonly advice?: string | undefined
}): McpError {
  const retryAdvice = retryAfterMs === undefined ? undefined : `try again in ${retryAfterMs} ms`
  const remedies = [advice, retryAdvice].filter((remedy) => remedy !== undefined).join(', or ')
  const message = `You have reached ${limit}, which is ${max} for each caller${remedies === '' ? '' : `: ${remedies}`}`
  const data: JsonObject = { reason: quotaReason, limit, max, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  return new McpError(errorCodes.internal, message, { data })
}

/**
 * Returns the issuer, subject and client of a principal as an array, with null for an absent field. Returns null
 * without a principal.
 */
export function principalIdentityOf(principal: Principal | undefined): (string | null)[] | null {
  if (principal === undefined) return null
  const { issuer = null, subject = null, client = null } = principal
  return [issuer, subject, client]
}

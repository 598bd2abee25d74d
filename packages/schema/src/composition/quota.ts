import { errorCodes, McpError } from '../basic/mcp-error.ts'
import type { Call, Principal } from '../basic/exchange.ts'
import type { JsonObject } from '@x/core'
import { clientAddressKey } from './call-context.ts'

/** The key of callers without a principal and without an address, as in memory. */
const localCallerKey = 'local'

/** Transports that verify a token once give the same principal to many calls. */
const principalKeys = new WeakMap<Principal, string>()

/**
 * Returns the key by which quotas count a caller: its principal (issuer, subject and client), else the address under
 * `clientAddressKey`. Callers without a principal who share an address share a key, and so do all addresses of one IPv6
 * network of 64 bits, because a provider gives such a network to one customer (RFC 6177).
 */
export function callerKeyOf({ principal, context }: Pick<Call, 'principal' | 'context'>): string {
  if (principal !== undefined) return principalKeys.get(principal) ?? principalKeyOf(principal)
  const address = context.get(clientAddressKey)
  return address === undefined ? localCallerKey : normalizeAddress(address)
}

// The key of a principal begins with a bracket, and that of an address never does: no address can use its quota.
function principalKeyOf(principal: Principal): string {
  const key = JSON.stringify(principalIdentityOf(principal))
  principalKeys.set(principal, key)
  return key
}

const ipv4MappedPrefix = /^::ffff:(?=\d+\.)/i
const maxAddressLength = 100

/** Returns an IPv4 address or a name as it is, and the network of an IPv6 address. */
function normalizeAddress(address: string): string {
  if (!address.includes(':') && !address.startsWith('[')) return address.slice(0, maxAddressLength)
  // An address may come from a header, with brackets, a port or a zone (RFC 7239, section 6; RFC 4007, section 11).
  const bareAddress = address
    .slice(0, maxAddressLength)
    .replace(/^\[/, '')
    .replace(/[\]%].*$/s, '')
  const isMapped = ipv4MappedPrefix.test(bareAddress)
  if (isMapped) return bareAddress.replace(ipv4MappedPrefix, '')
  // The port of an IPv4 address.
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

/** A quota of a caller that was reached. */
export interface ReachedQuota {
  /** The kind of the ledger that is bounded, such as `streams`. */
  readonly limit: string
  readonly max: number
  /** Milliseconds until another attempt may succeed. Undefined where waiting changes nothing. */
  readonly retryAfterMs: number | undefined
  /** The remedy where waiting does not help, such as `end a subscription`. */
  readonly advice?: string | undefined
}

/** The `data.reason` of an error about a quota of the caller. HTTP answers it with 429 (RFC 6585, section 4). */
export const quotaReason = 'quota'

/**
 * Creates the error for a caller whose quota is full. Its message and its `data` name the limit and the
 * time after which the caller may try again.
 */
export function quotaError({ limit, max, retryAfterMs, advice }: ReachedQuota): McpError {
  const retryAdvice = retryAfterMs === undefined ? undefined : `try again in ${retryAfterMs} ms`
  const remedies = [advice, retryAdvice].filter((remedy) => remedy !== undefined).join(', or ')
  const message = `You have reached ${limit}, which is ${max} for each caller${remedies === '' ? '' : `: ${remedies}`}`
  const data: JsonObject = { reason: quotaReason, limit, max, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  return new McpError(errorCodes.internal, message, { data })
}

/**
 * Returns the identity of a principal as JSON: its three fields in an array, so that they cannot run together. Null
 * without a principal.
 */
export function principalIdentityOf(principal: Principal | undefined): (string | null)[] | null {
  if (principal === undefined) return null
  const { issuer = null, subject = null, client = null } = principal
  return [issuer, subject, client]
}

import { lookup } from 'node:dns'
import { Agent, request as sendHttps } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { type OptionTable, optionTypes, resolveOptions } from '@x/core'
import type { FetchFunction } from '../bounded-fetch.ts'

/** Options of {@link guardedFetch}. */
export interface GuardedFetchOptions {
  /** Origins that may have a private address, such as `https://login.internal:8443`. Another port is another origin. */
  readonly allowedOrigins?: readonly string[] | undefined
}

const guardedFetchOptionTable = {
  allowedOrigins: { default: [], type: optionTypes.strings },
} satisfies OptionTable<GuardedFetchOptions>

/**
 * A `fetch` for programs whose users choose the servers. It rejects URLs that are not https, and hosts whose address,
 * after their names are resolved, belongs to this machine or to a private network. Pass it to `oauth` as `fetch`.
 *
 * @throws TypeError for an unknown option, and for origins that are no array.
 */
export function guardedFetch(options: GuardedFetchOptions = {}): FetchFunction {
  const { allowedOrigins } = resolveOptions(options, guardedFetchOptionTable, 'guardedFetch')
  return async (address, { method = 'GET', headers, body, signal }) => {
    const url = new URL(address)
    if (url.protocol !== 'https:') throw new TypeError(`Only https is allowed, not ${url.protocol}`)
    const isAllowed = allowedOrigins.includes(url.origin)
    if (!isAllowed && isPrivateAddress(url.hostname.replace(/^\[|\]$/g, '')))
      throw createPrivateAddressError(url.hostname)
    const bodyText = body === undefined || body === null ? undefined : await new Response(body).text()
    return new Promise((resolve, reject) => {
      const request = sendHttps(url, {
        method,
        headers: Object.fromEntries(new Headers(headers)),
        ...(isAllowed ? {} : { agent: publicAgent }),
        ...(signal ? { signal } : {}),
      })
      request.once('error', reject)
      request.once('response', (incomingMessage) => {
        const { statusCode: status = 502, headersDistinct } = incomingMessage
        const headerPairs = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
          values.map((value): [string, string] => [name, value]),
        )
        const hasBody = status !== 204 && status !== 205 && status !== 304
        if (!hasBody) incomingMessage.resume()
        const stream = hasBody ? ReadableStream.from<Uint8Array>(Readable.from(incomingMessage)) : null
        resolve(new Response(stream, { status, headers: headerPairs }))
      })
      request.end(bodyText)
    })
  }
}

const lookupPublicAddress: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const refusedAddress = addresses?.find(({ address }) => isPrivateAddress(address))
    if (error !== null) callback(error, '')
    else if (refusedAddress !== undefined) callback(createPrivateAddressError(hostname), '')
    else if (options.all === true) callback(null, addresses)
    else callback(null, addresses[0]?.address ?? '', addresses[0]?.family)
  })
}

// Connects to the checked address, because the name could resolve to another one after the check. Its connections are its
// own: one that other code has opened to this host, and left open, may lead to a private address. Idle connections are
// closed like those of the platform's agent.
const publicAgent = new Agent({ keepAlive: true, timeout: 5000, lookup: lookupPublicAddress })

function createPrivateAddressError(host: string): Error {
  return new TypeError(`${host} has an address of this machine or of a private network`)
}

// Special-purpose addresses of IPv4 (RFC 6890 and the IANA registry), and multicast.
const specialIpv4Networks = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const
// Global unicast is 2000::/3 (RFC 4291). Some networks in it have special purposes: protocol assignments, documentation
// and 6to4.
const globalIpv6Network = ['2000::', 3] as const
const specialIpv6Networks = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

const specialNetworks = new BlockList()
for (const [network, prefix] of specialIpv4Networks) specialNetworks.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of specialIpv6Networks) specialNetworks.addSubnet(network, prefix, 'ipv6')
const globalNetworks = new BlockList()
globalNetworks.addSubnet(...globalIpv6Network, 'ipv6')

function isPrivateAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 6) return !globalNetworks.check(address, 'ipv6') || specialNetworks.check(address, 'ipv6')
  return family === 4 && specialNetworks.check(address, 'ipv4')
}

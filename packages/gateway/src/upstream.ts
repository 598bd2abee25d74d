import type { Connection, Server } from '@x/schema'

/** An upstream outside of this process, as a function that opens connections to it. */
export interface UpstreamOptions {
  /**
   * Opens one more connection, such as `connectAny(url)` of `@x/legacy/client`. The proxy closes what it opened. A
   * connection to a server of an older revision serves one host, so it is a function and not a connection.
   */
  readonly connect: () => Connection
}

/** The server behind a proxy: a server in this process, or a function that opens connections to one. */
export type Upstream = Server | UpstreamOptions

/** Returns true if an upstream is a server in this process. */
export function isServer(upstream: Upstream): upstream is Server {
  return 'exchange' in upstream
}

const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/**
 * Returns the reason why the address of a server is refused, or undefined. An address is `https:`, or `http:` on this
 * machine, so that tokens and answers are not sent in clear text. Its other parts could hide a secret or another host.
 */
export function findAddressProblem(url: URL): string | undefined {
  const isLoopback = loopbackHost.test(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback))
    return `${url.origin} is neither https: nor http: on this machine`
  if (url.username !== '' || url.password !== '') return `${url.origin} has a user or a password: pass headers instead`
  return url.hash === '' ? undefined : `${url.origin} has a fragment, which no server receives`
}

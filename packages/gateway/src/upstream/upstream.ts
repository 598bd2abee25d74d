import type { Connection, HttpAuthorizer, Principal, Server } from '@x/exchange'
import type { ToolRules } from './tool-rules.ts'

/** The caller for whom a connection is opened. */
export interface UpstreamCaller {
  /** The caller, for an upstream with credentials of callers. Undefined for a connection that all callers share. */
  readonly principal: Principal | undefined
  /** The authorizer of the requests of the connection. Undefined for an upstream without `credential`. */
  readonly auth: HttpAuthorizer | undefined
}

/** The credential of a caller at an upstream. Another id needs another connection. */
export interface CallerCredential {
  readonly id: string
  readonly caller: UpstreamCaller
}

/**
 * The credential at an upstream that needs none, or whose function `connect` has the same credential for all callers.
 */
export const noCredential: CallerCredential = { id: '', caller: { principal: undefined, auth: undefined } }

/** An upstream outside of this process, as a function that opens connections to it. */
export interface UpstreamOptions {
  /**
   * Opens one more connection, such as `connectAny(url)` of `@x/legacy/client`. The proxy closes its connections. A
   * connection to a server of an older revision serves one host, so it is a function and not a connection. An address
   * is `https:`, or `http:` on this machine, without user, password and fragment. Another one is closed at once: the
   * log has the reason, and calls get the error that the upstream gave no answer. A connection that serves one host or
   * caller is closed after 10 minutes without use.
   */
  readonly connect: (caller: UpstreamCaller) => Connection
}

/** A page at which a caller logs in at an upstream. */
export interface LoginRequired {
  /** The address of the page. */
  readonly loginUrl: string
}

/**
 * Finds the credential of a caller at an upstream. Returns the same object for each call of the same caller, because
 * another object needs another connection. The token that the caller sent to the gateway is not available to it.
 */
export type CredentialSource = (
  principal: Principal | undefined,
) => HttpAuthorizer | LoginRequired | Promise<HttpAuthorizer | LoginRequired>

/** An upstream of a gateway outside of this process. */
export interface GatewayUpstreamOptions extends UpstreamOptions {
  /** Finds the credential of each caller. Default: `connect` has one for all callers. */
  readonly credential?: CredentialSource | undefined
  /** The tools that the gateway offers, and their names. Default: all tools. */
  readonly tools?: ToolRules | undefined
  /**
   * Milliseconds without a message after which a call is cancelled. It may take half of this longer, at most a minute.
   * Lists and descriptions have 5 seconds instead: a slower upstream is left out. Default: 1,800,000, which is 30
   * minutes.
   */
  readonly timeoutMs?: number | undefined
  /**
   * True if the gateway is not ready after three requests in a row to which the upstream gave no answer. The gateway
   * sends no request to find this out. Default: false.
   */
  readonly required?: boolean | undefined
}

/** An upstream of a gateway: a server in this process, or a function that opens connections to one. */
export type GatewayUpstream = Server | GatewayUpstreamOptions

/**
 * The server behind a proxy: a server in this process, or a function that opens connections to one. Closing the proxy
 * also closes a server in this process, unless it has another host.
 */
export type Upstream = Server | UpstreamOptions

/** Returns true if an upstream is a server in this process. */
export function isServer(upstream: Upstream | GatewayUpstream): upstream is Server {
  return 'exchange' in upstream
}

const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** Returns true if a host, such as `127.0.0.1`, `::1` or `localhost:3000`, is this machine. */
export function isLoopbackHost(host: string): boolean {
  const isAddress = host.split(':').length > 2 && !host.startsWith('[')
  const url = `http://${isAddress ? `[${host}]` : host}`
  return URL.canParse(url) && loopbackHost.test(new URL(url).hostname)
}

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

import {
  createLedger,
  createLog,
  isCancelled,
  type Log,
  objectWith,
  type OptionTable,
  type OptionType,
  optionTypes,
  resolveOptions,
  type Runtime,
  runtimeOf,
} from '@x/core'
import {
  type Exchange,
  type HostStateCodec,
  type Middleware,
  type Server,
  type ServerExtension,
  serverOf,
} from '@x/exchange'
import { hopObserverKey } from '@x/exchange/internal'
import { errorResponse, findMethodRow } from '@x/schema'
import { ConnectedHop, observeHop } from '../hop/hop.ts'
import type { UpstreamOptions } from '../hop/hop-options.ts'
import { checkUpstream } from '../upstream/upstream-options.ts'
import { endOfStream } from './route-call.ts'
import { checkRevision } from './serve-host.ts'

/**
 * The server behind a proxy: one in this process, or a function that opens connections to one. Closing the proxy also
 * closes a server in this process, unless it has another host.
 */
export type ProxyUpstream = Server | UpstreamOptions

export interface ProxyOptions {
  /** A proxy calls its upstream by this name in errors and in the log. */
  readonly name: string
  readonly version: string
  /** Middleware around every call of a host. */
  readonly use?: readonly Middleware[] | undefined
  /** For example `legacy()`, for hosts of older revisions. */
  readonly extensions?: readonly ServerExtension[] | undefined
  /** Seals values for the extensions, such as the session ids of older hosts. */
  readonly state?: HostStateCodec | undefined
  /** Default: writes lines to the standard error. */
  readonly log?: Log | undefined
  /** For tests. Default: the platform's clock. */
  readonly runtime?: Partial<Runtime> | undefined
}

const arrayOf = (name: string, type: string): OptionType => ({
  name,
  accepts: (value) => Array.isArray(value) && value.every((each) => typeof each === type),
})

export const proxyOptionTable = {
  name: { type: optionTypes.string },
  version: { type: optionTypes.string },
  use: { type: arrayOf('an array of functions', 'function') },
  extensions: { type: arrayOf('an array of extensions, such as [legacy()]', 'object') },
  state: { type: objectWith(['seal', 'open'], 'a codec, such as sealedState({ keys })') },
  log: { type: optionTypes.function },
  runtime: { type: optionTypes.object },
} satisfies OptionTable<ProxyOptions>

const upstreamTable = { connect: undefined } satisfies OptionTable<UpstreamOptions>

/**
 * Forwards every request to another server, over any transport and between any two revisions, and renames nothing.
 * Credentials and principals of hosts are not forwarded to a server outside of this process.
 *
 * The proxy acts with the credentials of its connections, so it listens beyond this machine only with `auth`.
 *
 * @example
 * const upstream = { connect: () => connectAny({ command: 'npx', args: ['-y', 'some-server'] }) }
 * await serveHttp(proxy(upstream, { name: 'files', version: '1.0.0', extensions: [legacy()] }))
 *
 * @throws TypeError for an unknown option, and for one of another type.
 */
export function proxy(upstream: ProxyUpstream, options: ProxyOptions): Server {
  resolveOptions(options, proxyOptionTable, 'proxy')
  checkUpstream(upstream, 'The upstream of proxy')
  if ('exchange' in upstream) return proxyServer(upstream, options)
  resolveOptions(upstream, upstreamTable, 'The upstream of proxy')
  return proxyConnections(upstream, options)
}

/** A server in this process receives the calls of hosts unchanged. */
function proxyServer(upstream: Server, { name, version, ...options }: ProxyOptions): Server {
  const detachHost = upstream.attachHost()
  const { exchange, localOnly, singleProcess, needsPrincipal, ready, receive } = upstream
  const members = { localOnly, singleProcess, needsPrincipal, ready, receive, close: detachHost }
  return serverOf(observeUpstream(name, exchange), { ...options, info: { name, version }, ...members })
}

/** A proxy has one upstream, so every request is for it. */
function observeUpstream(name: string, send: Exchange): Exchange {
  return (request, call) => {
    call.context.get(hopObserverKey)?.setUpstream(name)
    return observeHop(name, send, call)(request, call)
  }
}

function proxyConnections(upstream: UpstreamOptions, { name, version, ...options }: ProxyOptions): Server {
  const log = createLog(options.log, '@x/gateway')
  const deps = { name, ledger: createLedger(), runtime: runtimeOf(options.runtime), log }
  const hop = new ConnectedHop(upstream, deps)
  const send: Exchange = async (request, call) => {
    try {
      checkRevision(request)
    } catch (error) {
      return errorResponse(request.id, error)
    }
    try {
      return await hop.exchange(request, call)
    } catch (error) {
      if (isCancelled(call) && findMethodRow(request.method)?.isStreaming === true) return endOfStream(request)
      throw error
    }
  }
  return serverOf(observeUpstream(name, send), {
    ...options,
    log,
    ledger: deps.ledger,
    info: { name, version },
    localOnly: undefined,
    needsPrincipal: true,
    receive: (notification, call) => hop.notify(notification, call),
    close: () => hop.close(),
  })
}

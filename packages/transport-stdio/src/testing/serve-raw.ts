import type { Duplex } from 'node:stream'
import type { Exchange, Server } from '@x/exchange'
import type { Log } from '@x/core'
import type { ServeStdioOptions, ServiceInternals } from '../server/options.ts'
import { startStdioService, type StdioServer } from '../server/serve-stdio.ts'
import { testServer } from './exchanges.ts'
import { type RawPeer, rawPeer } from './raw-peer.ts'
import { streamPair } from './stream-pair.ts'

/** A service over a stream pair, and a raw client. */
export interface ServedRaw extends AsyncDisposable {
  readonly peer: RawPeer
  readonly service: StdioServer
  /** The end of the connection that the server uses. */
  readonly clientStream: Duplex
}

/** `log` is used only for an exchange. */
export function serveRaw(
  target: Server | Exchange,
  options: ServeStdioOptions = {},
  { log, ...internals }: ServiceInternals & { readonly log?: Log | undefined } = {},
): ServedRaw {
  const [near, far] = streamPair()
  const server = typeof target === 'function' ? testServer(target, { log }) : target
  const service = startStdioService(server, { input: far, output: far, graceMs: 30, ...options }, internals)
  const peer = rawPeer({ input: near, output: near })
  return { peer, service, clientStream: far, [Symbol.asyncDispose]: service[Symbol.asyncDispose] }
}

import type { Duplex } from 'node:stream'
import type { Exchange } from '@x/schema'
import type { ServeStdioOptions } from '../server/options.ts'
import { serveStdio, type StdioServer } from '../server/serve-stdio.ts'
import { type RawPeer, rawPeer } from './raw-peer.ts'
import { streamPair } from './stream-pair.ts'

/** A service over a stream pair, and a client that speaks in bytes. */
export interface ServedRaw extends AsyncDisposable {
  readonly peer: RawPeer
  readonly service: StdioServer
  /** The server's end. */
  readonly end: Duplex
}

/** Serves an exchange to a raw client. */
export function serveRaw(exchange: Exchange, options: ServeStdioOptions = {}): ServedRaw {
  const [near, far] = streamPair()
  const service = serveStdio(exchange, { input: far, output: far, graceMs: 30, ...options })
  const peer = rawPeer({ input: near, output: near })
  return { peer, service, end: far, [Symbol.asyncDispose]: service[Symbol.asyncDispose] }
}

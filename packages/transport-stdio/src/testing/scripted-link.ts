import type { Duplex } from 'node:stream'
import { type Call, createCall } from '@x/exchange'
import type { JsonObject, RpcNotification } from '@x/schema'
import { createStreamConnection, type ClientStreamConnection } from '../client/connect-streams.ts'
import type { ConnectionOptions, ConnectionSettings } from '../client/options.ts'
import { isStdioError, type StdioError } from '../stdio-error.ts'
import { type RawPeer, rawPeer } from './raw-peer.ts'
import { streamPair } from './stream-pair.ts'

/** A connection to a server that the test controls. */
export interface ScriptedLink extends AsyncDisposable {
  readonly connection: ClientStreamConnection
  readonly server: RawPeer
  /** What the connection has reported. */
  readonly errors: readonly StdioError[]
  /** Notifications that belong to no call. */
  readonly strayNotifications: readonly RpcNotification[]
  readonly clientStream: Duplex
}

export function scriptedLink(
  options: ConnectionOptions = {},
  internals?: Pick<ConnectionSettings, 'maxLineBytes'>,
): ScriptedLink {
  const [near, far] = streamPair()
  const errors: StdioError[] = []
  const stray: RpcNotification[] = []
  const connection = createStreamConnection(
    {
      input: near,
      output: near,
      graceMs: 30,
      log: ({ err }) => void (isStdioError(err) && errors.push(err)),
      onNotification: (message) => stray.push(message),
      ...options,
    },
    internals,
  )
  const server = rawPeer({ input: far, output: far })
  return {
    connection,
    server,
    errors,
    strayNotifications: stray,
    clientStream: near,
    [Symbol.asyncDispose]: connection[Symbol.asyncDispose],
  }
}

/** A call that records its notifications. */
export function listeningCall(
  signal: AbortSignal = new AbortController().signal,
): Call & { readonly heard: RpcNotification[] } {
  const heard: RpcNotification[] = []
  return Object.assign(createCall({ signal, notify: (message) => void heard.push(message) }), { heard })
}

/** As a server writes it. */
export function resultOf(request: JsonObject, text: string): object {
  return { jsonrpc: '2.0', id: request['id'], result: { resultType: 'complete', text } }
}

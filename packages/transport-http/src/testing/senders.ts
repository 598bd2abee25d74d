import { type HttpConnection, connectHttp as overFetch } from '../client/connect.ts'
import { connectHttp as overUndici } from '../client/connect-node.ts'
import type { HttpConnectOptions } from '../client/options.ts'

export type Connect = (url: string, options?: HttpConnectOptions) => HttpConnection

/** Both senders, for tests that run with each. */
export const senders: readonly [string, Connect][] = [
  ['undici', overUndici],
  ['fetch', overFetch],
]

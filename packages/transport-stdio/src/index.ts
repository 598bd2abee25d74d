/**
 * MCP over stdio, for servers and clients.
 *
 * @module @x/transport-stdio
 */

export type { Clock, Log, LogRecord } from '@x/core'
export type { StreamPair } from './close-streams.ts'
export { connectStdio, type StdioConnection } from './client/connect-stdio.ts'
export { connectStreams, type ClientStreamConnection } from './client/connect-streams.ts'
export type {
  ConnectionOptions,
  StartedProcess,
  StdioConnectOptions,
  StreamConnectOptions,
} from './client/options.ts'
export type { ProcessExit, ProcessView } from '@x/exchange'
export type { ServeStdioOptions } from './server/options.ts'
export { serveStdio, type StdioServer } from './server/serve-stdio.ts'
export { isStdioError, StdioError, type StdioErrorCode, type StdioErrorDetails } from './stdio-error.ts'

import type { IncomingMessage, ServerResponse } from 'node:http'
import { type OptionTable, optionTypes, type ResolvedOptions, resolveOptions } from '@x/core'
import { handlerOptionTable } from '../server/handler-settings.ts'
import type { NodeHandlerOptions } from './node-handler.ts'
import { type StopOptions, stopOptionTable } from './stop.ts'

/** Options of `serveHttp`. */
export interface ServeHttpOptions extends NodeHandlerOptions {
  /** Port to listen on. Default 0, which selects a free port. */
  readonly port?: number | undefined
  /** Address to listen on. Default `127.0.0.1`. If other machines can reach it, `allowedHosts` is required. */
  readonly host?: string | undefined
  /**
   * Path of the endpoint. Default `/mcp`. Any other path is answered with 404, except for documents and health checks.
   */
  readonly path?: string | undefined
  /**
   * Receives every request first, except health checks (`/healthz` and `/readyz`). Return true if you answer it
   * yourself, such as a request for a page. If it throws or rejects, the request is answered with 500, and the error is
   * logged.
   */
  readonly onRequest?: ((request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>) | undefined
  /**
   * Stops the server at SIGTERM and SIGINT, with these options or, for `true`, with the defaults. The process then
   * exits unless other resources keep it alive; a second signal ends it at once. Default: false.
   */
  readonly stopOnSignals?: boolean | StopOptions | undefined
}

const serveOptionTable = {
  ...handlerOptionTable,
  // Names of this machine, or the address of `host`.
  allowedHosts: undefined,
  port: { default: 0, min: 0, max: 65_535 },
  host: '127.0.0.1',
  path: '/mcp',
  onRequest: undefined,
  stopOnSignals: false,
} satisfies OptionTable<ServeHttpOptions>

/** Fills in defaults. Throws a TypeError for an unknown option, and a RangeError for an invalid number. */
export function resolveServeOptions(
  options: ServeHttpOptions,
): ResolvedOptions<ServeHttpOptions, typeof serveOptionTable> {
  const resolved = resolveOptions(options, serveOptionTable, 'serveHttp')
  const { stopOnSignals } = resolved
  // A misspelt or invalid time would end calls too early.
  if (!optionTypes.boolean.accepts(stopOnSignals))
    resolveOptions({ stopOnSignals }, { stopOnSignals: { group: stopOptionTable } }, 'serveHttp')
  return resolved
}

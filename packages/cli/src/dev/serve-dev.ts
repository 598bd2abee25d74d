import type { DevServer, ServeDevOptions } from './dev-options.ts'
import { openDevServer } from './dev-server.ts'

/**
 * Starts a server, and serves the page of `mcpx dev` for it at 127.0.0.1. Resolves before the server is ready: the page
 * shows its state. Throws an `Error` if the port is in use, or if a file of a panel does not exist.
 *
 * @example
 * ```ts
 * const dev = await serveDev({ target: fleet.url, panels: [lanes] })
 * console.log(dev.pageUrl)
 * ```
 */
export async function serveDev(options: ServeDevOptions): Promise<DevServer> {
  return openDevServer(options)
}

import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { codeOf } from '@x/core'
import { CliError } from '../cli-error.ts'
import { createApiListener } from './api/api.ts'
import { readPageFile } from './api/page.ts'
import { hostNames } from './calls/profiles.ts'
import type { EventLog } from './event-log.ts'
import type { DevServer, ServeDevOptions } from './dev-options.ts'
import { openDevSession } from './session.ts'

/** A served page, with what the command and its tests need of it. */
export interface OpenDevServer extends DevServer {
  readonly log: EventLog
  readonly token: string
  readonly port: number
}

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

/** Starts a server, and serves its page and hosts on this machine. Default of `pageFile`: the built page. */
export async function openDevServer(options: ServeDevOptions, pageFile?: URL): Promise<OpenDevServer> {
  const { panels = [] } = options
  const page = readPageFile(panels, pageFile)
  const token = randomBytes(24).toString('base64url')
  const httpServer = await listenLocally(options.port)
  const { port } = httpServer.address() as AddressInfo
  const session = await openDevSession(options).catch((error: unknown) => {
    httpServer.close()
    throw error
  })
  const { log, commands } = session
  // Loaded while the server starts.
  const hosts = options.hosts === false ? undefined : (await import('./serve-hosts.ts')).serveHosts(session)
  const hostUrl = hosts && `http://127.0.0.1:${port}/mcp`
  log.append({ type: 'setup', panels: panels.map(({ name, title }) => ({ name, title })), hosts: hostNames, hostUrl })
  httpServer.on('request', createApiListener({ port, token, log, commands, panels, page, serveHosts: hosts?.handler }))
  return {
    pageUrl: `http://127.0.0.1:${port}/#${token}`,
    hostUrl,
    token,
    port,
    log,
    close: async () => {
      httpServer.closeAllConnections()
      httpServer.close()
      await hosts?.close()
      await session.close()
    },
  }
}

const defaultPort = 6280
const portCount = 20

/** Listens on a port of this machine: the given one, else the first free one from 6280 on. */
async function listenLocally(givenPort: number | undefined): Promise<Server> {
  for (let port = givenPort ?? defaultPort; ; port += 1) {
    const server = createServer()
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, '127.0.0.1', resolve)
      })
      return server
    } catch (error) {
      const isUsed = codeOf(error) === 'EADDRINUSE'
      if (isUsed && givenPort !== undefined)
        throw new CliError('failure', `127.0.0.1:${port} is in use: stop what listens there, or give another port`)
      if (!isUsed || port >= defaultPort + portCount) throw error
    }
  }
}

import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { createApi } from './api/api.ts'
import { listen } from './api/listen.ts'
import { readPage } from './api/page.ts'
import { hostNames } from './calls/profiles.ts'
import type { EventLog } from './event-log.ts'
import type { DevServer, ServeDevOptions } from './dev-options.ts'
import { openSession } from './session.ts'

export interface DevServerOptions extends ServeDevOptions {
  /** The page, as a file. Default: the built page of this package. */
  readonly page?: URL
}

/** A served page, with what the command and its tests need of it. */
export interface OpenDevServer extends DevServer {
  readonly log: EventLog
  readonly token: string
  readonly port: number
}

/** Starts a server, and serves its page and hosts on this machine. */
export async function openDevServer(options: DevServerOptions): Promise<OpenDevServer> {
  const page = readPage(options.panels, options.page)
  const token = randomBytes(24).toString('base64url')
  const httpServer = await listen(options.port)
  const { port } = httpServer.address() as AddressInfo
  const session = await openSession(options).catch((error: unknown) => {
    httpServer.close()
    throw error
  })
  const { log, commands } = session
  const { panels = [] } = options
  // Loaded while the server starts.
  const hosts = options.hosts === false ? undefined : (await import('./serve-hosts.ts')).serveHosts(session)
  const hostUrl = hosts && `http://127.0.0.1:${port}/mcp`
  log.append({ type: 'setup', panels: panels.map(({ name, title }) => ({ name, title })), hosts: hostNames, hostUrl })
  httpServer.on('request', createApi({ port, token, log, commands, panels, page, serveHosts: hosts?.handler }))
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

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { messageOf } from '@x/core'
import type { EventLog } from '../event-log.ts'
import type { StampedEvent } from '../events.ts'
import { type Commands, runCommand } from './commands.ts'
import { findRefusal } from './guard.ts'
import { type Page, writePage, writeSandbox } from './page.ts'
import { type Panel, runPanel, streamPanels } from './panel.ts'
import { ApiError, readCommandBody } from './read-body.ts'

export interface ApiOptions {
  readonly port: number
  readonly token: string
  readonly log: EventLog
  readonly commands: Commands
  readonly panels: readonly Panel[]
  readonly page: Page | undefined
  /** Serves hosts at `/mcp`. Undefined if hosts are not served. */
  readonly serveHosts: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
}

/** Serves the page, its event stream, its commands, and hosts. Each request passes the guard first. */
export function createApiListener(options: ApiOptions): RequestListener {
  return (request, response) => {
    const path = pathOfRequest(request)
    const refusal = findRefusal(request.headers, options, path.startsWith('/api/'))
    if (refusal !== undefined) return writeJson(response, refusal.status, { error: refusal.message })
    if (path === '/mcp' && options.serveHosts !== undefined) return options.serveHosts(request, response)
    if (path.startsWith('/api/') && request.method === 'POST') return void serveCommand(options, request, response)
    if (request.method === 'GET' && serveDocument(options, path, response)) return
    writeJson(response, 404, { error: `There is nothing at ${path}` })
  }
}

function pathOfRequest({ url = '/' }: IncomingMessage): string {
  return url.split('?')[0] ?? '/'
}

function serveDocument({ page, port, panels, log }: ApiOptions, path: string, response: ServerResponse): boolean {
  if (path === '/') writePage(page, port, response)
  else if (path === '/sandbox') writeSandbox(port, response)
  else if (path === '/api/events') {
    streamEvents(log, response)
    streamPanels(panels, response)
  } else return false
  return true
}

/** Comments keep coming, so that a page notices when the command has ended. */
const heartbeatMs = 10_000

/** Sends the kept events and all new ones, until the page leaves. */
function streamEvents(log: EventLog, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  const write = (event: StampedEvent): void => void response.write(`data: ${JSON.stringify(event)}\n\n`)
  for (const event of log.events) write(event)
  // The page draws once with all that was kept, and from here on with each event.
  response.write('event: live\ndata: {}\n\n')
  const unsubscribe = log.subscribe(write)
  const heartbeat = setInterval(() => response.write(': \n\n'), heartbeatMs)
  response.once('close', () => {
    unsubscribe()
    clearInterval(heartbeat)
  })
}

async function serveCommand(
  { commands, panels }: ApiOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const path = pathOfRequest(request)
    const body = await readCommandBody(request)
    const [, panel] = /^\/api\/panels\/([a-z\d-]+)$/.exec(path) ?? []
    const result = panel === undefined ? runCommand(commands, path, body) : runPanel(panels, panel, body)
    writeJson(response, 200, await result)
  } catch (error) {
    const status = error instanceof ApiError ? error.status : 409
    writeJson(response, status, { error: messageOf(error) })
  }
}

function writeJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}

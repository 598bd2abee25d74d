import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import { type PageHandler, servePage } from '@apps/front/serve-page'
import { portRefusal } from '@apps/front/usage'
import { rejectionStatusOf } from './check-request.ts'
import { parseCommand } from './command.ts'
import { type CommandTarget, runCommand } from './run-command.ts'
import type { TelemetryView } from '../telemetry/telemetry-view.ts'
import { type SnapshotSource, sendEvents } from './send-events.ts'

/** The HTTP server of the page. */
export interface Control extends AsyncDisposable {
  readonly url: string
}

/** The data that the pages show, and the target of their commands. */
export type ControlTarget = SnapshotSource & CommandTarget & { telemetry(): TelemetryView }

const maxBodyBytes = 1_024
const maxReaders = 16

// The relative path is the same from `src` and from `dist`.
const builtPage = fileURLToPath(new URL('../../dist-web', import.meta.url))

/**
 * Serves the page, its events and its commands on the loopback address. Throws a `UsageError` if the port is in use.
 */
export async function serveControl(
  stage: ControlTarget,
  requestedPort: number,
  folder: string = builtPage,
): Promise<Control> {
  const page: PageHandler = existsSync(folder) ? servePage(folder) : () => false
  let readers = 0
  let port = 0
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0]
    const rejectionStatus = rejectionStatusOf(request.headers, port, path === '/api/commands')
    if (rejectionStatus !== undefined) return sendStatus(response, rejectionStatus)
    if (path === '/api/commands') return void handleCommand(request, response, stage)
    if (path === '/api/telemetry') return sendTelemetry(response, stage.telemetry())
    if (path !== '/api/events') return page(request, response) ? undefined : sendStatus(response, 404)
    if (readers >= maxReaders) return sendStatus(response, 503)
    readers++
    response.once('close', () => readers--)
    sendEvents(response, stage)
  })
  port = await listen(server, requestedPort)
  const close = async (): Promise<void> => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  return { url: `http://127.0.0.1:${port}/`, [Symbol.asyncDispose]: close }
}

async function handleCommand(request: IncomingMessage, response: ServerResponse, stage: CommandTarget): Promise<void> {
  if (request.method !== 'POST') return sendStatus(response, 405)
  const text = await readText(request).catch(() => undefined)
  if (text === undefined) return sendStatus(response, 413)
  const command = parseCommand(text)
  const isDone = command !== undefined && runCommand(command, stage, (error) => console.error(error))
  sendStatus(response, isDone ? 204 : 400)
}

function sendTelemetry(response: ServerResponse, view: TelemetryView): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
  response.end(JSON.stringify(view))
}

/** Reads the body of a request. Returns undefined if it exceeds the limit. */
async function readText(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > maxBodyBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function sendStatus(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'Cache-Control': 'no-store', ...(status === 413 && { Connection: 'close' }) }).end()
}

async function listen(server: Server, port: number): Promise<number> {
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  } catch (error) {
    throw portRefusal(error, port)
  }
  const address = server.address()
  return address !== null && typeof address === 'object' ? address.port : port
}

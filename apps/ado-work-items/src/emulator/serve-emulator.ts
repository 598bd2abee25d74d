import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { basicAuthorization } from '../azure-devops/connection.ts'
import { answer, type RouteScope } from './routes.ts'
import { ServiceError } from './service-error.ts'
import { createStore } from './store.ts'

/** The simulated identity of the emulator. */
export interface EmulatorOptions {
  readonly organization: string
  readonly project: string
  /** The personal access token that the emulator accepts. */
  readonly token: string
  readonly now?: () => Date
  /** The delay of a response after a change, in milliseconds; 0 when absent. */
  readonly writeMs?: number
}

/** A running emulator. */
export interface Emulator {
  /** The base URL, which replaces `https://dev.azure.com`. */
  readonly url: string
  close(): Promise<void>
}

/** Serves the part of the REST API that this application uses, on a free local port. */
export async function serveEmulator(options: EmulatorOptions): Promise<Emulator> {
  const scope = { expected: basicAuthorization(options.token), options, store: createStore(options) }
  const server = createServer((request, response) => {
    respond(request, scope).then(
      (body) => sendJson(response, 200, body),
      (error: unknown) => {
        const isServiceError = error instanceof ServiceError
        sendJson(
          response,
          isServiceError ? error.status : 500,
          isServiceError ? error.body : { message: String(error) },
        )
      },
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    server.close()
    server.closeAllConnections()
    if (server.listening) await once(server, 'close')
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

interface Scope {
  readonly expected: string
  readonly options: EmulatorOptions
  readonly store: RouteScope['store']
}

async function respond(request: IncomingMessage, scope: Scope): Promise<unknown> {
  const { method = 'GET', headers } = request
  if (headers.authorization !== scope.expected)
    throw new ServiceError(401, 'VssUnauthorizedException', 'TF400813: Resource not available. Sign in.')
  const url = new URL(request.url ?? '/', `http://${headers.host}`)
  const segments = url.pathname.split('/').slice(1).map(decodeURIComponent)
  const start = segments.indexOf('_apis')
  checkScope(segments.slice(0, start), scope.options)
  const body = await text(request)
  const { organization, project } = scope.options
  const result = answer(
    {
      method,
      path: segments.slice(start + 1),
      query: url.searchParams,
      contentType: headers['content-type'] ?? '',
      body: body === '' ? undefined : JSON.parse(body),
    },
    { store: scope.store, project, organizationUrl: `${url.origin}/${encodeURIComponent(organization)}` },
  )
  // The change is complete. A client that disconnects during the delay does not receive this response.
  if (method === 'PATCH') await setTimeout(scope.options.writeMs ?? 0)
  return result
}

function checkScope(segments: readonly string[], { organization, project }: EmulatorOptions): void {
  const [first, second, ...rest] = segments
  const known = first === organization && (second === undefined || second === project) && rest.length === 0
  if (known) return
  const message = `TF200016: The following project does not exist: ${segments.join('/')}. This emulator has ${organization}/${project}.`
  throw new ServiceError(404, 'ProjectDoesNotExistWithNameException', message)
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8; api-version=7.1' })
  response.end(JSON.stringify(value ?? null))
}

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { basicAuthorization } from '../azure-devops/connection.ts'
import { answer, type RouteScope } from './routes.ts'
import type { Seed } from './seed.ts'
import { ServiceError } from './service-error.ts'
import { createStore } from './store.ts'

/** The simulated identity of the emulator. */
export interface EmulatorOptions {
  readonly organization: string
  readonly project: string
  /** The personal access token that the emulator accepts. */
  readonly token: string
  readonly seed: Seed
  readonly now?: () => Date
  /** The delay of a response after a change, in milliseconds; 0 when absent. */
  readonly writeMs?: number
}

/** A running emulator. */
export interface Emulator {
  /** The base URL, which replaces `https://dev.azure.com`. */
  readonly url: string
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const maxBodyBytes = 1024 * 1024
const signInPage = '<!DOCTYPE html><html><body>Azure DevOps Services | Sign In</body></html>'

/** Serves the part of the REST API that this application uses, on a free local port. */
export async function serveEmulator(options: EmulatorOptions): Promise<Emulator> {
  const store = createStore(options)
  const expected = basicAuthorization(options.token)
  const server = createServer((request, response) => {
    respond(request, response, { expected, options, store }).catch((error: unknown) => {
      if (error instanceof ServiceError) return sendJson(response, error.status, error.body)
      sendJson(response, 500, { message: String(error) })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const url = `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`
  const close = async (): Promise<void> => {
    server.close()
    server.closeAllConnections()
    if (server.listening) await once(server, 'close')
  }
  return { url, close, [Symbol.asyncDispose]: close }
}

interface Scope {
  readonly expected: string
  readonly options: EmulatorOptions
  readonly store: RouteScope['store']
}

async function respond(request: IncomingMessage, response: ServerResponse, scope: Scope): Promise<void> {
  const { authorization, host } = request.headers
  if (authorization === undefined) return sendSignInPage(response)
  if (authorization !== scope.expected) {
    throw new ServiceError(401, 'VssUnauthorizedException', { message: 'TF400813: Resource not available. Sign in.' })
  }
  const url = new URL(request.url ?? '/', `http://${host}`)
  const segments = url.pathname.split('/').slice(1).map(decodeURIComponent)
  const start = segments.indexOf('_apis')
  checkScope(segments.slice(0, start), scope.options)
  const body = await readBody(request)
  const result = answer(
    {
      method: request.method ?? 'GET',
      path: segments.slice(start + 1),
      query: url.searchParams,
      contentType: request.headers['content-type'] ?? '',
      body,
    },
    {
      store: scope.store,
      project: scope.options.project,
      organizationUrl: `${url.origin}/${encodeURIComponent(scope.options.organization)}`,
    },
  )
  // The change is complete. A client that disconnects during the delay does not receive this response.
  if (request.method === 'PATCH') await setTimeout(scope.options.writeMs ?? 0)
  sendJson(response, 200, result)
}

function checkScope(segments: readonly string[], { organization, project }: EmulatorOptions): void {
  const [first, second, ...rest] = segments
  const known = first === organization && (second === undefined || second === project) && rest.length === 0
  if (known) return
  throw new ServiceError(404, 'ProjectDoesNotExistWithNameException', {
    message: `TF200016: The following project does not exist: ${segments.join('/')}. This emulator has ${organization}/${project}.`,
  })
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    const part = Buffer.from(chunk)
    bytes += part.length
    if (bytes > maxBodyBytes)
      throw new ServiceError(413, 'VssPropertyValidationException', { message: 'Body too large.' })
    chunks.push(part)
  }
  if (bytes === 0) return undefined
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    throw new ServiceError(400, 'VssPropertyValidationException', { message: 'The body is not JSON.' })
  }
}

function sendSignInPage(response: ServerResponse): void {
  response.writeHead(203, { 'content-type': 'text/html; charset=utf-8' }).end(signInPage)
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8; api-version=7.1' })
  response.end(JSON.stringify(value ?? null))
}

import { createServer, request as requestOver } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Log, resolveOptions } from '@x/core'
import type { Exchange, Server } from '@x/exchange'
import { createHandler, createNodeContext } from '../node/node-handler.ts'
import { type HandlerInternals, type HandlerOptions, handlerOptionTable } from '../server/handler-settings.ts'
import { createFetchHandler } from '../server/http-handler.ts'
import { testServer } from './exchanges.ts'
import type { PostRequest } from './sent.ts'

export interface ReceivedResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** An answer that the test reads piece by piece. */
export interface StreamedResponse {
  readonly status: number
  readonly headers: Headers
  /** Resolves with the next event or comment and its blank line, and with `''` at the end. */
  next(): Promise<string>
}

/** A handler that runs on one of the platforms. */
export interface ServedEndpoint {
  send(sent: PostRequest): Promise<ReceivedResponse>
  /**
   * Sends a request and reads the answer as a stream. When `leaving` aborts, closes the connection as a client does.
   */
  open(sent: PostRequest, leaving?: AbortSignal): Promise<StreamedResponse>
  [Symbol.asyncDispose](): Promise<void>
}

/** What a test replaces. `log` is used only if the target is an exchange. */
export interface TestInternals extends HandlerInternals {
  readonly log?: Log | undefined
}

/** Serves a server, or the server of an exchange, on one of the platforms. */
export type ServeFunction = (
  target: Server | Exchange,
  options?: HandlerOptions<unknown>,
  internals?: TestInternals,
) => Promise<ServedEndpoint>

/** By platform, for `describe.each`. */
export const serveFunctions: readonly [string, ServeFunction][] = [
  ['httpHandler', serveFetch],
  ['nodeHandler', serveNode],
]

async function serveFetch(...[target, options = {}, internals]: Parameters<ServeFunction>): Promise<ServedEndpoint> {
  const handle = createFetchHandler(toServer(target, internals), options, internals)
  const open = async (sent: PostRequest, leaving?: AbortSignal): Promise<StreamedResponse> => {
    const { method, headers, body } = sent
    const given = body === undefined ? {} : { body: typeof body === 'string' ? body : Uint8Array.from(body) }
    const request = new Request(`http://localhost${sent.path}`, { method, headers, signal: leaving ?? null, ...given })
    const response = await handle(request)
    const reader = response.body?.getReader()
    const read = async () => (await reader?.read())?.value
    return { status: response.status, headers: response.headers, next: createPieceReader(read) }
  }
  return { open, send: async (sent) => readWholeResponse(await open(sent)), [Symbol.asyncDispose]: async () => {} }
}

async function serveNode(...[target, options = {}, internals]: Parameters<ServeFunction>): Promise<ServedEndpoint> {
  const server = createServer(
    createHandler(
      createNodeContext(
        toServer(target, internals),
        resolveOptions(options, handlerOptionTable, 'nodeHandler'),
        internals,
      ),
    ),
  )
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
  const open = (sent: PostRequest, leaving?: AbortSignal): Promise<StreamedResponse> =>
    new Promise((resolve, reject) => {
      const { method, headers, body } = sent
      const options = { port, host: '127.0.0.1', path: sent.path, method, headers, agent: false }
      const request = requestOver(options, (response) => {
        const chunks = response[Symbol.asyncIterator]()
        const read = async () => (await chunks.next()).value
        const { statusCode: status = 0 } = response
        const pairs = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)])
        resolve({ status, headers: new Headers(pairs), next: createPieceReader(read) })
      })
      request.on('error', reject)
      leaving?.addEventListener('abort', () => request.destroy())
      request.end(body)
    })
  return {
    open,
    send: async (sent) => readWholeResponse(await open(sent)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function toServer(target: Server | Exchange, { log }: TestInternals = {}): Server {
  return typeof target === 'function' ? testServer(target, log && { log }) : target
}

function createPieceReader(read: () => Promise<Uint8Array | undefined>): () => Promise<string> {
  const decoder = new TextDecoder()
  let rest = ''
  return async () => {
    for (;;) {
      const end = rest.indexOf('\n\n')
      const bytes = end < 0 ? await read() : undefined
      if (end < 0 && bytes !== undefined) {
        rest += decoder.decode(bytes, { stream: true })
        continue
      }
      const piece = end < 0 ? rest : rest.slice(0, end + 2)
      rest = rest.slice(piece.length)
      return piece
    }
  }
}

async function readWholeResponse({ status, headers, next }: StreamedResponse): Promise<ReceivedResponse> {
  let body = ''
  for (let piece = await next(); piece !== ''; piece = await next()) body += piece
  return { status, headers, body }
}

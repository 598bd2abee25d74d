import { createServer as createHttpServer } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { protect } from '@x/auth/server'
import { createServer } from '@x/server'
import { type HttpServer, serveHttp, type ServeHttpOptions } from '@x/transport-http/node'
import { FastMCP } from 'fastmcp'
import { vi } from 'vitest'
import { z } from 'zod'
import { resolveTool, stateWith } from './asking.ts'
import { officialServers } from './interop/official-server.ts'
import { everythingOverHttp, portOf, findFreePort } from './older-server-peers.ts'

/** Starts an instance of our server with a tool that asks. It sends a keep-alive comment every second. */
export function serveOurs(key: string, options: ServeHttpOptions = {}): Promise<HttpServer> {
  const work = { saved: [], runs: [] }
  const server = createServer({ name: 'items', version: '1.0.0', tools: [resolveTool(work)], state: stateWith(key) })
  return serveHttp(server, { keepAliveMs: 1000, ...options })
}

export interface Served extends AsyncDisposable {
  readonly url: string
}

/** Starts the server of the official SDK. */
export async function serveOfficialV2(): Promise<Served> {
  const handle = toNodeHandler(createMcpHandler(officialServers(() => {})))
  // @ts-expect-error The types of the official SDK were not written for exactOptionalPropertyTypes.
  const http = createHttpServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const dispose = async (): Promise<void> => {
    http.closeAllConnections()
    http.close()
  }
  return { url: `http://127.0.0.1:${portOf(http)}/mcp`, [Symbol.asyncDispose]: dispose }
}

/** Starts server-everything, of revision 2025-11-25. */
export async function everything(): Promise<Served> {
  const peer = await everythingOverHttp()
  return { url: peer.connection.url, [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose]() }
}

const quiet = { debug: () => {}, error: () => {}, info: () => {}, log: () => {}, warn: () => {} }

/** Starts a server of fastmcp. */
export async function fastmcp(): Promise<Served> {
  // fastmcp logs to the console.
  const printed = [vi.spyOn(console, 'log'), vi.spyOn(console, 'error')]
  for (const spy of printed) spy.mockImplementation(() => {})
  const server = new FastMCP({ name: 'fast', version: '1.0.0', logger: quiet })
  const parameters = z.object({ a: z.number() })
  server.addTool({ name: 'add', description: 'Adds', parameters, execute: async ({ a }) => `${a + 1}` })
  const port = await findFreePort()
  await server.start({ transportType: 'httpStream', httpStream: { port, host: '127.0.0.1' } })
  const dispose = async (): Promise<void> => {
    await server.stop()
    for (const spy of printed) spy.mockRestore()
  }
  return { url: `http://127.0.0.1:${port}/mcp`, [Symbol.asyncDispose]: dispose }
}

/** Starts a server that requires a token of an issuer. The issuer is written as given. */
export async function serveProtectedBy(issuer: string, resourcePath = '/mcp'): Promise<HttpServer> {
  const port = await findFreePort()
  const server = createServer({ name: 'items', version: '1.0.0', state: false })
  const resource = `http://127.0.0.1:${port}${resourcePath}`
  return serveHttp(server, { port, auth: protect({ resource, issuers: [issuer] }) })
}

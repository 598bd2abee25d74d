import { createServer } from 'node:http'
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node'
import {
  acceptedContent,
  createMcpHandler,
  createRequestStateCodec,
  hostHeaderValidationResponse,
  inputRequired,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  McpServer,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { randomKey } from '@x/state-codec'
import * as z from 'zod'
import { type Programs, serveMeasured } from './processes.ts'
import { openShop, registerShopTools } from './shop.ts'

// The official SDK, as its documentation shows it. Our handlers check Host and Origin, so its checks are enabled.

/** Servers of version 2 of the official SDK. */
export const programs: Programs = {
  echo: () => serve(createMcpHandler(createEcho)),
  flow: () => serve(createMcpHandler(createFlow)),
  fetch: serveFetch,
  shop: serveShop,
}

function serve(handler: ReturnType<typeof createMcpHandler>): Promise<void> {
  const handle = toNodeHandler(handler)
  const validateHost = localhostHostValidation()
  const validateOrigin = localhostOriginValidation()
  const server = createServer((request, response) => {
    if (!validateHost(request, response) || !validateOrigin(request, response)) return
    // @ts-expect-error The types of the official SDK were not written for exactOptionalPropertyTypes.
    void handle(request, response)
  })
  return serveMeasured(server)
}

function createEcho(): McpServer {
  const server = new McpServer({ name: 'bench', version: '1.0.0' })
  const inputSchema = z.object({ text: z.string(), times: z.number().int().min(1).max(10) })
  server.registerTool('echo', { description: 'Repeats a text', inputSchema }, ({ text, times }) => ({
    content: [{ type: 'text', text: text.repeat(times) }],
  }))
  return server
}

async function serveFetch(): Promise<void> {
  const { getRequestListener } = await import('@hono/node-server')
  const handler = createMcpHandler(createEcho)
  const hosts = localhostAllowedHostnames()
  const origins = localhostAllowedOrigins()
  const listener = getRequestListener((request) => {
    const refusal = hostHeaderValidationResponse(request, hosts) ?? originValidationResponse(request, origins)
    return refusal ?? handler.fetch(request)
  })
  await serveMeasured(createServer(listener))
}

const resolution = z.object({ resolution: z.enum(['Fixed', 'Duplicate']) })
const original = z.object({ id: z.number().int() })
const codec = createRequestStateCodec<{ how: string }>({ key: Buffer.from(randomKey(), 'hex'), ttlSeconds: 600 })

/** The state is signed and readable, bound to nothing, and has the answers of earlier rounds. */
function createFlow(): McpServer {
  const server = new McpServer({ name: 'bench', version: '1.0.0' }, { requestState: { verify: codec.verify } })
  const inputSchema = z.object({ id: z.number().int() })
  server.registerTool('resolve_bug', { description: 'Resolves a bug', inputSchema }, async ({ id }, ctx) => {
    const { inputResponses } = ctx.mcpReq
    const how = ctx.mcpReq.requestState<{ how: string }>()?.how
    const bug = acceptedContent(inputResponses, 'original', original)
    if (how !== undefined && bug !== undefined) {
      return { content: [{ type: 'text', text: `#${id} is ${how} of #${bug.id}` }] }
    }
    const answer = acceptedContent(inputResponses, 'resolution', resolution)
    if (answer === undefined) {
      const question = inputRequired.elicit({ message: 'How was it resolved?', requestedSchema: resolution })
      return inputRequired({ inputRequests: { resolution: question } })
    }
    const question = inputRequired.elicit({ message: 'Which bug does it repeat?', requestedSchema: original })
    const requestState = await codec.mint({ how: answer.resolution })
    return inputRequired({ inputRequests: { original: question }, requestState })
  })
  return server
}

async function serveShop(): Promise<void> {
  const shop = await openShop()
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'shop', version: '1.0.0' })
    registerShopTools(server, shop)
    return server
  })
  await serve(handler)
}

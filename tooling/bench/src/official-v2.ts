import { createServer } from 'node:http'
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
import { createEcho, serveOfficial } from './peers/official-v2-echo.ts'
import { serveMeasured } from './peers/serve-measured.ts'
import type { Programs } from './processes.ts'
import { openShop, registerShopTools } from './shop.ts'

/** Servers of version 2 of the official SDK, as its documentation shows it. */
export const programs: Programs = {
  echo: () => serveOfficial(createMcpHandler(createEcho)),
  flow: () => serveOfficial(createMcpHandler(createFlow)),
  fetch: serveFetch,
  shop: serveShop,
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

/** Creates a server whose tool asks twice. The state is signed and readable, bound to nothing, and has the first answer. */
export function createFlow(): McpServer {
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
  await serveOfficial(
    createMcpHandler(() => registerShopTools(new McpServer({ name: 'shop', version: '1.0.0' }), shop)),
  )
}

import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  McpServer,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { answerQuestions } from '../http/answer-questions.ts'

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bench', version: '1.0.0' })
  const inputSchema = z.object({ text: z.string(), times: z.number().int().min(1).max(10) })
  server.registerTool('echo', { description: 'Repeats a text', inputSchema }, ({ text, times }) => ({
    content: [{ type: 'text', text: text.repeat(times) }],
  }))
  return server
})
const hosts = localhostAllowedHostnames()
const origins = localhostAllowedOrigins()

// The checks of Host and Origin are part of what our handler does, so they stand in front here as its documentation says.
answerQuestions(
  createServer(
    getRequestListener((request) => {
      const refusal = hostHeaderValidationResponse(request, hosts) ?? originValidationResponse(request, origins)
      return refusal ?? handler.fetch(request)
    }),
  ),
)

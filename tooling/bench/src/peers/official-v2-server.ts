import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bench', version: '1.0.0' })
  const inputSchema = z.object({ text: z.string(), times: z.number().int().min(1).max(10) })
  server.registerTool('echo', { description: 'Repeats a text', inputSchema }, ({ text, times }) => ({
    content: [{ type: 'text', text: text.repeat(times) }],
  }))
  return server
})
const handle = toNodeHandler(handler)
const validateHost = localhostHostValidation()
const validateOrigin = localhostOriginValidation()

// Our handler checks Host and Origin, so the checks of the official SDK are enabled, as its documentation describes.
const server = createServer((request, response) => {
  if (!validateHost(request, response) || !validateOrigin(request, response)) return
  // @ts-expect-error The types of the official SDK were not written for exactOptionalPropertyTypes.
  void handle(request, response)
})

server.listen(0, '127.0.0.1', () => {
  // A server that listens on a port has an address of this type.
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${port}\n`)
})

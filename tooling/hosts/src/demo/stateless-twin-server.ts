// The server on the official SDK v2 that speaks 2026-07-28, with the tools that are called across a restart.
import { createServer } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { environment, texts } from './texts.ts'

const { port } = environment(process.env)
const name = z.object({ name: z.string() })
const greeting = (value: string) => ({ content: [{ type: 'text' as const, text: texts.greeting(value) }] })

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'demo', version: '1.0.0' })
  server.registerTool('greet', { description: 'Greets', inputSchema: name }, (args) => greeting(args.name))
  server.registerTool('ask', { description: 'Asks for a name', inputSchema: z.object({}) }, (_, { mcpReq }) => {
    const answer = acceptedContent(mcpReq.inputResponses, 'name', name)
    if (answer !== undefined) return greeting(answer.name)
    const question = inputRequired.elicit({ message: texts.question, requestedSchema: name })
    return inputRequired({ inputRequests: { name: question } })
  })
  return server
})

// @ts-expect-error The types of the official SDK were not written for exactOptionalPropertyTypes.
createServer(toNodeHandler(handler)).listen(port, '127.0.0.1', () => console.log('ready'))

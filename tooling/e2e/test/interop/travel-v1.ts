import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import * as z from 'zod'

// #region tool
/** Creates a server of the official SDK v1. It waits in memory for the answer. */
export function travelV1(): McpServer {
  const server = new McpServer({ name: 'travel', version: '1.0.0' })
  server.registerTool('book', { description: 'Books a trip', inputSchema: { city: z.string() } }, async ({ city }) => {
    const requestedSchema = { type: 'object' as const, properties: { nights: { type: 'integer' as const } } }
    const answer = await server.server.elicitInput({ message: 'How many nights?', requestedSchema })
    if (answer.action !== 'accept') return { isError: true, content: [{ type: 'text', text: 'Not booked' }] }
    return { content: [{ type: 'text', text: `${String(answer.content?.['nights'])} nights in ${city}` }] }
  })
  return server
}
// #endregion

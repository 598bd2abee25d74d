import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'

// #region tool
const nightsForm = z.object({ nights: z.number().int() })

/** Creates a handler of the official SDK v2. The tool is called again with the answer. */
export const travelV2 = (): ReturnType<typeof createMcpHandler> =>
  createMcpHandler(() => {
    const server = new McpServer({ name: 'travel', version: '1.0.0' })
    const definition = { description: 'Books a trip', inputSchema: z.object({ city: z.string() }) }
    server.registerTool('book', definition, ({ city }, { mcpReq }) => {
      const answer = acceptedContent(mcpReq.inputResponses, 'nights', nightsForm)
      if (answer !== undefined) return { content: [{ type: 'text', text: `${answer.nights} nights in ${city}` }] }
      const nights = inputRequired.elicit({ message: 'How many nights?', requestedSchema: nightsForm })
      return inputRequired({ inputRequests: { nights } })
    })
    return server
  })
// #endregion

import { McpServer as OfficialServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import * as z from 'zod'

/** The identifier of the extension of the server that {@link createExtendedServer} creates. */
export const countingIdentifier = 'com.example/counting'

/** Creates an official server of 2025-11-25 with a method and notifications of an extension. */
export function createExtendedServer(): OfficialServer {
  const server = new OfficialServer({ name: 'extended', version: '1.0.0' })
  server.server.registerCapabilities({ extensions: { [countingIdentifier]: { max: 3 } } })
  const request = z.object({ method: z.literal(`${countingIdentifier}/count`), params: z.object({ to: z.number() }) })
  server.server.setRequestHandler(request, async ({ params }, { sendNotification }) => {
    for (let step = 1; step <= params.to; step += 1) {
      // The types of the official SDK exclude notifications of extensions.
      await sendNotification({ method: `${countingIdentifier}/step`, params: { step } } as never)
    }
    return { count: params.to }
  })
  server.registerTool('declared', { description: 'Returns the extensions that the client declares' }, () => ({
    content: [{ type: 'text', text: JSON.stringify(server.server.getClientCapabilities()?.extensions ?? {}) }],
  }))
  return server
}

import { appsCapabilities, type AppFrame, pageUriOf, showApp } from '@x/apps/host'
import { createClient } from '@x/client'
import type { CallToolResult, JsonObject } from '@x/schema'
import { connectHttp } from '@x/transport-http/client'

declare const document: { createElement(name: 'iframe'): AppFrame; readonly body: { append(frame: AppFrame): void } }
declare function confirm(question: string): boolean
declare function open(url: string): unknown

const host = { name: 'my-host', version: '1.0.0' }
const client = createClient(connectHttp('https://weather.example.com/mcp'), { ...host, capabilities: appsCapabilities })

/** Calls a tool for the model. If the tool has a page, the user sees it. */
export async function callTool(name: string, args: JsonObject): Promise<CallToolResult> {
  const result = client.callTool(name, args)
  const tool = (await client.listTools()).find((each) => each.name === name)
  if (tool !== undefined && pageUriOf(tool) !== undefined) {
    const frame = document.createElement('iframe')
    await showApp(frame, {
      client,
      host,
      tool,
      arguments: args,
      result,
      sandbox: 'https://sandbox.example.com/',
      openLink: ({ href }) => confirm(`Open ${href}?`) && open(href) !== null,
    })
    document.body.append(frame)
  }
  return await result
}

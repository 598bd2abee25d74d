import { appsCapabilities, type AppFrame, showApp } from '@x/apps/host'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'

// A host in a browser: it calls `get_work_item`, shows its page in a frame, and asks the user with a prompt.

declare const document: { createElement(name: 'iframe'): AppFrame; readonly body: { append(frame: AppFrame): void } }
declare const location: { readonly href: string }
declare function prompt(text: string): string | null

const client = createClient(connectHttp(new URL('/mcp', location.href)), {
  name: 'app-host',
  version: '1.0.0',
  capabilities: appsCapabilities,
  elicit: ({ message }) => ({ action: 'accept', content: { resolution: prompt(message) ?? '' } }),
})
const tool = (await client.listTools()).find(({ name }) => name === 'get_work_item')
if (tool === undefined) throw new Error('There is no get_work_item')
const args = { workItemId: 4522 }
const frame = document.createElement('iframe')
const host = { name: 'app-host', version: '1.0.0' }
await showApp(frame, { client, host, tool, arguments: args, result: client.callTool(tool.name, args) })
document.body.append(frame)

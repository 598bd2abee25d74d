import { appsCapabilities, type AppFrame, showApp, type ShownApp } from '@x/apps/host'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'

// The page of a host that shows the page of a tool.

declare const document: {
  createElement(name: 'iframe'): AppFrame
  readonly body: { append(frame: AppFrame): void }
}

const links: string[] = []
let shown: ShownApp | undefined

/** Calls the tool `weather`, and shows its page. */
async function showWeather(url: string, sandbox?: string): Promise<void> {
  const client = createClient(connectHttp(url), { name: 'host', version: '1.0.0', capabilities: appsCapabilities })
  const tool = (await client.listTools()).find(({ name }) => name.endsWith('weather'))
  if (tool === undefined) throw new Error('The server has no tool "weather"')
  const args = { city: 'Oslo' }
  const frame = document.createElement('iframe')
  shown = await showApp(frame, {
    client,
    host: { name: 'host', version: '1.0.0' },
    tool,
    arguments: args,
    result: client.callTool(tool.name, args),
    sandbox,
    openLink: ({ href }) => links.push(href) > 0,
  })
  document.body.append(frame)
}

Object.assign(globalThis, {
  showWeather,
  links,
  closeWeather: () => shown?.close(),
  whenClosed: () => shown?.closed,
})

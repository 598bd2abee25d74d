import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { AppBridge, getToolUiResourceUri, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'

// A host with the official packages: it calls `get_work_item`, shows its page in a frame, and asks the user.

/** The policy for a page that declares no origins, as the specification has it (extensions/apps, host behavior). */
const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"

const client = new Client(
  { name: 'app-host', version: '1.0.0' },
  {
    versionNegotiation: { mode: { pin: '2026-07-28' } },
    capabilities: {
      elicitation: { form: {} },
      extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
    },
  },
)
client.setRequestHandler('elicitation/create', async ({ params }) => {
  const answer = await ask(params.message)
  const schema = 'requestedSchema' in params ? params.requestedSchema : undefined
  const [field = ''] = Object.keys(schema?.properties ?? {})
  return { action: 'accept', content: { [field]: answer } }
})
await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', location.href)))

const workItemId = Number(new URLSearchParams(location.search).get('id'))
const { tools } = await client.listTools()
const tool = tools.find(({ name }) => name === 'get_work_item')
const { contents } = await client.readResource({ uri: (tool && getToolUiResourceUri(tool)) ?? '' })
const [page] = contents
const result = await client.callTool({ name: 'get_work_item', arguments: { workItemId } })

const frame = document.querySelector('iframe')
if (frame?.contentWindow && page && 'text' in page) {
  const capabilities = { serverTools: {}, serverResources: {} }
  const bridge = new AppBridge(client, { name: 'app-host', version: '1.0.0' }, capabilities)
  bridge.addEventListener('initialized', () => {
    void bridge.sendToolInput({ arguments: { workItemId } }).then(() => bridge.sendToolResult(result))
  })
  bridge.addEventListener('sizechange', ({ height }) => {
    if (height !== undefined) frame.style.height = `${height}px`
  })
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow))
  frame.srcdoc = `<meta http-equiv="Content-Security-Policy" content="${policy}">${page.text}`
}

function ask(question: string): Promise<string> {
  const dialog = document.querySelector('dialog')
  const text = document.querySelector('#question')
  const input = document.querySelector<HTMLInputElement>('#answer')
  const button = document.querySelector<HTMLButtonElement>('#send')
  if (dialog === null || text === null || input === null || button === null) throw new Error('The page is incomplete')
  text.textContent = question
  input.value = ''
  dialog.showModal()
  return new Promise((resolve) => {
    button.addEventListener(
      'click',
      () => {
        dialog.close()
        resolve(input.value)
      },
      { once: true },
    )
  })
}

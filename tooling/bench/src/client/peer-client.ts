import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expectedText } from '../http/call.ts'
import { serveCallLoad } from './call-load.ts'

serveCallLoad(async (url) => {
  const client = new Client(
    { name: 'bench-client', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return async () => {
    const { content } = await client.callTool({ name: 'echo', arguments: { text: expectedText, times: 1 } })
    const [first] = content
    return first?.type === 'text' ? first.text : ''
  }
}, expectedText)

import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { expectedText } from '../http/call.ts'
import { serveCallLoad } from './call-load.ts'

const capabilities = { elicitation: {} }

serveCallLoad((url) => {
  const client = createClient(connectHttp(url), { name: 'bench-client', version: '1.0.0', capabilities })
  return async () => {
    const { content } = await client.callTool('echo', { text: expectedText, times: 1 })
    const [first] = content
    return first?.type === 'text' ? first.text : ''
  }
}, expectedText)

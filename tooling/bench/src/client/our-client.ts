import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { expectedText } from '../http/call.ts'
import { answerDrives } from './drive.ts'

const capabilities = { elicitation: {} }

answerDrives((url) => {
  const client = createClient(connectHttp(url), { name: 'bench-client', version: '1.0.0', capabilities })
  return async () => {
    const { content } = await client.callTool('echo', { text: expectedText, times: 1 })
    const [first] = content
    return first?.type === 'text' ? first.text : ''
  }
}, expectedText)

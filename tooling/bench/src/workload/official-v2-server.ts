import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { answerQuestions } from '../http/answer-questions.ts'
import { serveOfficial } from '../http/official.ts'
import { registerShopTools } from './official-tools.ts'
import { openShop } from './shop.ts'

const shop = await openShop()
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'shop', version: '1.0.0' })
  registerShopTools(server, shop)
  return server
})
answerQuestions(serveOfficial(handler))

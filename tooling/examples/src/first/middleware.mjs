import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'

const ping = tool('ping', { description: 'Answers', run: () => 'pong' })
const logging = (next) => async (request, call) => {
  console.log(`before ${request.method}`)
  const response = await next(request, call)
  console.log(`after ${request.method}`)
  return response
}
const server = createServer({ name: 'demo', version: '1.0.0', tools: [ping], use: [logging] })

const client = createClient(server, { name: 'host', version: '1.0.0' })
console.log((await client.callTool('ping')).content[0])

import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { readSkills } from '@x/skills/node'
import { nodeHandler } from '@x/transport-http/node'
import sirv from 'sirv'
import { createDocumentationServer } from './server/documentation-server.ts'
import { readPages } from './server/read-pages.ts'

const site = fileURLToPath(new URL('../dist-web', import.meta.url))
const skillFolder = fileURLToPath(new URL('../../../packages/server/skills', import.meta.url))

const pages = await readPages(site)
const server = createDocumentationServer(pages, await readSkills(skillFolder))
const handleMcp = nodeHandler(server)
const serveSite = sirv(site, { etag: true })

const http = createServer((request, response) => {
  if (request.url === '/mcp') return void handleMcp(request, response)
  serveSite(request, response, () => {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found\n')
  })
})
http.listen(Number(process.env['PORT'] ?? 5173), '127.0.0.1', () => {
  const address = http.address()
  const port = typeof address === 'object' ? address?.port : address
  console.log(`The site is http://127.0.0.1:${port}/ and its MCP server http://127.0.0.1:${port}/mcp`)
})

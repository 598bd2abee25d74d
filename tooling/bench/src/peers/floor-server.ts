import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// The minimum of an HTTP server: it reads the body, parses it, and answers a fixed text.
const answer = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  result: {
    resultType: 'complete',
    content: [{ type: 'text', text: 'The quick brown fox jumps over the lazy dog' }],
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'bench', version: '1.0.0' } },
  },
})

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString())
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer) })
    response.end(answer)
  })
})

server.listen(0, '127.0.0.1', () => {
  // A server that listens on a port has an address of this type.
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${port}\n`)
})

import { createServer, type RequestListener, type Server } from 'node:http'

/** The response of a floor to a call of the echo tool. It has the size of the real response. */
export const echoAnswer = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  result: {
    resultType: 'complete',
    content: [{ type: 'text', text: 'The quick brown fox jumps over the lazy dog' }],
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'bench', version: '1.0.0' } },
  },
})

/** Creates a server that passes the text of each body to a function. */
export function bareServer(answer: (body: string, ...of: Parameters<RequestListener>) => void): Server {
  return createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => answer(Buffer.concat(chunks).toString(), request, response))
  })
}

/** Creates a server that parses each body, and answers a fixed text, whose header is prepared. */
export function fixedServer(answer: string): Server {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer) }
  return bareServer((body, _request, response) => {
    JSON.parse(body)
    response.writeHead(200, headers).end(answer)
  })
}

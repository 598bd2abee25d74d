import { createServer } from 'node:http'
import { answerQuestions } from '../http/answer-questions.ts'
import { expectedText } from '../http/call.ts'

const _meta = { 'io.modelcontextprotocol/serverInfo': { name: 'bench', version: '1.0.0' } }
const cacheHints = { ttlMs: 3_600_000, cacheScope: 'public', _meta }
const inputSchema = { type: 'object', properties: { text: { type: 'string' }, times: { type: 'integer' } } }
const discovery = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }

const results: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'server/discover': { resultType: 'complete', ...discovery, ...cacheHints },
    'tools/list': { resultType: 'complete', tools: [{ name: 'echo', inputSchema }], ...cacheHints },
    'tools/call': { resultType: 'complete', content: [{ type: 'text', text: expectedText }], _meta },
  }).map(([method, result]) => [method, JSON.stringify(result)]),
)

// The floor of the server benchmark, with the id of the request. A correct client rejects a response with another id.
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { id, method }: { id: number | string; method: string } = JSON.parse(Buffer.concat(chunks).toString())
    const answer = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${results.get(method) ?? '{}'}}`
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': answer.length })
    response.end(answer)
  })
})
answerQuestions(server)

import { createServer } from 'node:http'
import { createCall } from '@x/exchange'
import { createServer as createMcpServer } from '@x/server'
import { answerQuestions } from '../http/answer-questions.ts'
import { manyTools } from '../http/many-tools.ts'
import { listCall } from './list-call.ts'

// Sends the same bytes as our server from memory, after it has read and parsed the body.
const server = createMcpServer({ name: 'bench', version: '1.0.0', tools: manyTools(500) })
const answer = JSON.stringify(await server.exchange(JSON.parse(listCall.body), createCall()))
const length = Buffer.byteLength(answer)

answerQuestions(
  createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString())
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': length })
      response.end(answer)
    })
  }),
)

import { createServer } from 'node:http'
import { answerQuestions } from './answer-questions.ts'
import { echoAnswer } from './call.ts'

// The least that an HTTP server for JSON can do: read the body, parse it, answer a fixed text of the same size.
// A string, because node:http writes one together with the head, which is faster than a Buffer.
const length = Buffer.byteLength(echoAnswer)

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString())
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': length })
    response.end(echoAnswer)
  })
})
answerQuestions(server)

import { createServer } from 'node:http'
import { answerQuestions } from './answer-questions.ts'
import { echoAnswer } from './call.ts'

// The minimum of an HTTP server for JSON: it reads the body, parses it, and answers a fixed text of the same size.
// The text is a string, because node:http writes it together with the header, which is faster than a Buffer.
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

import { createServer } from 'node:http'
import { answerQuestions } from '../http/answer-questions.ts'

// Writes the same bytes as our server: an event for each notification, with its number, and an event for the response.
const response =
  'data: {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"done"}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench","version":"1.0.0"}}}}\n\n'

answerQuestions(
  createServer((request, reply) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString())
      reply.writeHead(200, { 'Content-Type': 'text/event-stream' })
      for (let done = 1; done <= 1000; done++) {
        reply.write(
          `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":${done},"total":1000}}\n\n`,
        )
      }
      reply.end(response)
    })
  }),
)

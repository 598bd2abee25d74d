import { createServer } from 'node:http'
import { answerQuestions } from '../http/answer-questions.ts'
import { flowBody, type FlowResult, nextOf, postsOfFlow, type Retry } from './flow.ts'
import { flowServer } from './flow-server.ts'

// The three answers of a whole flow, as our server gave them once, by the state that they answer to.
const answers = await recordFlow()

answerQuestions(
  createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { params }: { params: Retry } = JSON.parse(Buffer.concat(chunks).toString())
      const answer = answers.get(params.requestState)
      const status = answer === undefined ? 400 : 200
      response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': answer?.length ?? 0 })
      response.end(answer)
    })
  }),
)

async function recordFlow(): Promise<ReadonlyMap<string | undefined, string>> {
  const server = flowServer()
  const { signal } = new AbortController()
  const texts = new Map<string | undefined, string>()
  let retry: Retry = {}
  for (let post = 1; post <= postsOfFlow; post++) {
    const text = JSON.stringify(
      await server(JSON.parse(flowBody(retry)), { signal, principal: { subject: 'ada' }, notify: () => {} }),
    )
    texts.set(retry.requestState, text)
    const { result }: { result: FlowResult } = JSON.parse(text)
    retry = nextOf(result)
  }
  return texts
}

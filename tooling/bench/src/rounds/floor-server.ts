import { createServer } from 'node:http'
import { createCall } from '@x/exchange'
import { bareToken } from '../codec/bare-aes.ts'
import { answerQuestions } from '../http/answer-questions.ts'
import { flowBody, type FlowResult, nextOf, postsOfFlow, type Retry } from './flow.ts'
import { flowServer } from './flow-server.ts'

/** The response to a POST of the flow: the recorded text of our server, split at the state. */
interface Round {
  readonly before: string
  readonly state: object | undefined
  readonly after: string
}

const rounds = await recordFlow()

// The minimum of a server without memory between two requests and with an encrypted state: it opens the state of the
// request, and seals the next one.
answerQuestions(
  createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { params }: { params: Retry } = JSON.parse(Buffer.concat(chunks).toString())
      const answer = answerTo(rounds[params.requestState === undefined ? 0 : postIn(params.requestState)])
      const headers = { 'Content-Type': 'application/json', 'Content-Length': answer.length }
      response.writeHead(answer === '' ? 400 : 200, headers)
      response.end(answer)
    })
  }),
)

function answerTo(round: Round | undefined): string {
  if (round === undefined) return ''
  const { before, state, after } = round
  return state === undefined ? before : `${before}${bareToken.seal(state)}${after}`
}

function postIn(token: string): number {
  const state = bareToken.open(token)
  return typeof state === 'object' && state !== null && 'post' in state ? Number(state.post) : Number.NaN
}

async function recordFlow(): Promise<readonly Round[]> {
  const server = flowServer()
  const found: Round[] = []
  let retry: Retry = {}
  for (let post = 1; post <= postsOfFlow; post++) {
    const call = createCall({ principal: { subject: 'ada' } })
    const text = JSON.stringify(await server.exchange(JSON.parse(flowBody(retry)), call))
    const { result }: { result: FlowResult } = JSON.parse(text)
    found.push(roundOf(text, result.requestState, post))
    retry = nextOf(result)
  }
  return found
}

/** Splits the text of a response at its state. The state of the floor has the length of ours. */
function roundOf(text: string, state: string | undefined, post: number): Round {
  if (state === undefined) return { before: text, state: undefined, after: '' }
  const at = text.indexOf(state)
  const missing = state.length - bareToken.seal({ post, journal: '' }).length
  const journal = 'x'.repeat(Math.max(0, Math.floor((missing * 3) / 4)))
  return { before: text.slice(0, at), state: { post, journal }, after: text.slice(at + state.length) }
}

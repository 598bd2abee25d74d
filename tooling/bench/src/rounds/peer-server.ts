import {
  acceptedContent,
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  McpServer,
} from '@modelcontextprotocol/server'
import { randomKey } from '@x/state-codec'
import * as z from 'zod'
import { answerQuestions } from '../http/answer-questions.ts'
import { serveOfficial } from '../http/official.ts'

const resolution = z.object({ resolution: z.enum(['Fixed', 'Duplicate']) })
const original = z.object({ id: z.number().int() })
const codec = createRequestStateCodec<{ how: string }>({ key: Buffer.from(randomKey(), 'hex'), ttlSeconds: 600 })

// As its documentation describes, a signed state has the answers of earlier rounds.
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bench', version: '1.0.0' }, { requestState: { verify: codec.verify } })
  const inputSchema = z.object({ id: z.number().int() })
  server.registerTool('resolve_bug', { description: 'Resolves a bug', inputSchema }, async ({ id }, ctx) => {
    const { inputResponses } = ctx.mcpReq
    const how = ctx.mcpReq.requestState<{ how: string }>()?.how
    const bug = acceptedContent(inputResponses, 'original', original)
    if (how !== undefined && bug !== undefined) {
      return { content: [{ type: 'text', text: `#${id} is ${how} of #${bug.id}` }] }
    }
    const answer = acceptedContent(inputResponses, 'resolution', resolution)
    if (answer === undefined) {
      const question = inputRequired.elicit({ message: 'How was it resolved?', requestedSchema: resolution })
      return inputRequired({ inputRequests: { resolution: question } })
    }
    const question = inputRequired.elicit({ message: 'Which bug does it repeat?', requestedSchema: original })
    return inputRequired({
      inputRequests: { original: question },
      requestState: await codec.mint({ how: answer.resolution }),
    })
  })
  return server
})

answerQuestions(serveOfficial(handler))

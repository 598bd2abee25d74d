import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { answerQuestions } from '../http/answer-questions.ts'
import { echoAnswer } from '../http/call.ts'

// The minimum of a function from Request to Response on this adapter: it parses the body and answers a fixed text.
const headers = { 'Content-Type': 'application/json' }

answerQuestions(
  createServer(
    getRequestListener(async (request) => {
      await request.json()
      return new Response(echoAnswer, { headers })
    }),
  ),
)

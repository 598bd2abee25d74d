import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { answerQuestions } from '../http/answer-questions.ts'
import { echoAnswer } from '../http/call.ts'

// The least that a function from Request to Response can do on this adapter: parse the body, answer a fixed text.
const headers = { 'Content-Type': 'application/json' }

answerQuestions(
  createServer(
    getRequestListener(async (request) => {
      await request.json()
      return new Response(echoAnswer, { headers })
    }),
  ),
)

import { createServer as createHttpServer } from 'node:http'
import { createServer, tool } from '@x/server'
import { nodeHandler } from '@x/transport-http/node'
import { z } from 'zod'
import { answerQuestions } from './answer-questions.ts'

const echo = tool('echo', {
  description: 'Repeats a text',
  input: z.object({ text: z.string(), times: z.number().int().min(1).max(10) }),
  run: ({ text, times }) => text.repeat(times),
})

answerQuestions(createHttpServer(nodeHandler(createServer({ name: 'bench', version: '1.0.0', tools: [echo] }))))

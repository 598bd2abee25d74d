import { createServer as createHttpServer } from 'node:http'
import { createServer, tool } from '@x/server'
import { nodeHandler } from '@x/transport-http/node'
import * as z from 'zod'
import { answerQuestions } from '../http/answer-questions.ts'
import { manyTools } from '../http/many-tools.ts'

const measureText = tool('measure_text', {
  description: 'Counts the characters of a text',
  input: z.object({ text: z.string() }),
  run: ({ text }) => `${text.length} characters`,
})

// The variable TOOLS has the number of tools. One more tool accepts long arguments.
const tools = [...manyTools(Number(process.env['TOOLS'] ?? 1)), measureText]
answerQuestions(createHttpServer(nodeHandler(createServer({ name: 'bench', version: '1.0.0', tools }))))

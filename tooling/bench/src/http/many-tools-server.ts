import { createServer as createHttpServer } from 'node:http'
import { createServer } from '@x/server'
import { nodeHandler } from '@x/transport-http/node'
import { answerQuestions } from './answer-questions.ts'
import { manyTools } from './many-tools.ts'

const server = createServer({ name: 'bench', version: '1.0.0', tools: manyTools(500) })
answerQuestions(createHttpServer(nodeHandler(server)))

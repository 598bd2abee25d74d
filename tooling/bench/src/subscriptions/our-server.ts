import { createServer as createHttpServer } from 'node:http'
import { createServer, tool } from '@x/server'
import { nodeHandler } from '@x/transport-http/node'
import { answerQuestions } from './answer-questions.ts'

const echo = tool('echo', { description: 'Returns a text', run: () => 'something' })
// All streams have the same caller, because one process opens them.
const server = createServer({ name: 'bench', version: '1.0.0', tools: [echo], limits: { streams: 10_000 } })

answerQuestions(createHttpServer(nodeHandler(server)), () => void server.notifyListChanged('tools'))

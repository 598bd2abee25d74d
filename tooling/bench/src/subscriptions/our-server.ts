import { createServer as createHttpServer } from 'node:http'
import { createServer, tool } from '@x/server'
import { nodeHandler } from '@x/transport-http/node'
import { answerQuestions } from './answer-questions.ts'

const echo = tool('echo', { description: 'Says something', run: () => 'something' })
// All streams are of one caller, because one process opens them.
const server = createServer({ name: 'bench', version: '1.0.0', tools: [echo], limits: { streams: 10_000 } })

answerQuestions(createHttpServer(nodeHandler(server)), () => void server.notifyListChanged('tools'))

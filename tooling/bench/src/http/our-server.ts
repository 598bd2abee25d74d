import { createServer as createHttpServer } from 'node:http'
import { createServer } from '@x/server'
import { nodeHandler } from '@x/transport-http/node'
import { answerQuestions } from './answer-questions.ts'
import { echoTool } from './echo-tool.ts'

answerQuestions(createHttpServer(nodeHandler(createServer({ name: 'bench', version: '1.0.0', tools: [echoTool] }))))

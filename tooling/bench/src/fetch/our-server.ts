import { createServer as createHttpServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createServer } from '@x/server'
import { httpHandler } from '@x/transport-http'
import { answerQuestions } from '../http/answer-questions.ts'
import { echoTool } from '../http/echo-tool.ts'

const handle = httpHandler(createServer({ name: 'bench', version: '1.0.0', tools: [echoTool] }))

answerQuestions(createHttpServer(getRequestListener(handle)))

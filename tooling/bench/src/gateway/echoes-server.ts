import { createServer as createHttpServer } from 'node:http'
import { createServer, type Tool } from '@x/server'
import { nodeHandler } from '@x/transport-http/node'
import { answerQuestions } from '../http/answer-questions.ts'
import { echoTool } from '../http/echo-tool.ts'

/**
 * The echo tool under two names: the name at the upstream, and the name at the gateway, which a bare proxy forwards.
 */
const tools: readonly Tool[] = ['echo', 'one__echo'].map((name) => ({ ...echoTool, name }))
answerQuestions(createHttpServer(nodeHandler(createServer({ name: 'bench', version: '1.0.0', tools }))))

import { createServer } from 'node:http'
import { nodeHandler } from '@x/transport-http/node'
import { answerQuestions } from '../http/answer-questions.ts'
import { createExampleServer, openShop } from './shop.ts'

answerQuestions(createServer(nodeHandler(await createExampleServer(await openShop()))))

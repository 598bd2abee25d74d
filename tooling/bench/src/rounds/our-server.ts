import { createServer } from 'node:http'
import { nodeHandler } from '@x/transport-http/node'
import { answerQuestions } from '../http/answer-questions.ts'
import { userHeader } from './flow.ts'
import { flowServer } from './flow-server.ts'

const handle = nodeHandler(flowServer(), {
  authenticate: (request) => {
    const subject = request.header(userHeader)
    return subject !== undefined ? { subject } : { status: 401, message: 'Log in' }
  },
})

answerQuestions(createServer(handle))

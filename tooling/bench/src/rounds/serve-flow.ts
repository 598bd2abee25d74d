import { createServer } from 'node:http'
import type { Server } from '@x/exchange'
import { nodeHandler } from '@x/transport-http/node'
import { answerQuestions } from '../http/answer-questions.ts'
import { userHeader } from './flow.ts'

/** Serves the flow over HTTP. A header names the principal. */
export function serveFlow(server: Server): void {
  const handle = nodeHandler(server, {
    auth: (request) => {
      const subject = request.header(userHeader)
      return subject !== undefined ? { subject } : { status: 401, message: 'Log in' }
    },
  })
  answerQuestions(createServer(handle))
}

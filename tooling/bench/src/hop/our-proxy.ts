import { createServer } from 'node:http'
import { proxy } from '@x/gateway'
import { connectAny } from '@x/legacy/client'
import { nodeHandler } from '@x/transport-http/node'
import { answerQuestions } from '../http/answer-questions.ts'

/** Serves our proxy, as its guide shows it. */
export function serveOurProxy(upstreamUrl: string): void {
  const server = proxy({ connect: () => connectAny(upstreamUrl) }, { name: 'bench', version: '1.0.0' })
  answerQuestions(createServer(nodeHandler(server)))
}

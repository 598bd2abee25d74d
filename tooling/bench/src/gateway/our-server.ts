import { createServer } from 'node:http'
import { gateway } from '@x/gateway'
import { connectAny } from '@x/legacy/client'
import { randomKey, sealedState } from '@x/state-codec'
import { nodeHandler } from '@x/transport-http/node'
import { answerQuestions } from '../http/answer-questions.ts'
import { startUpstream } from '../hop/upstream.ts'

/** A gateway to two servers, as its guide shows it. */
const [one, two] = [await startUpstream('gateway/echoes-server.js'), await startUpstream('gateway/echoes-server.js')]
const server = gateway({
  name: 'bench',
  version: '1.0.0',
  state: sealedState({ keys: [randomKey()] }),
  upstreams: { one: { connect: () => connectAny(one) }, two: { connect: () => connectAny(two) } },
})
answerQuestions(createServer(nodeHandler(server)))

import { createServer as createHttpServer } from 'node:http'
import { createServer, tool } from '@x/server'
import { internalSettings } from '@x/server/internals'
import { nodeHandler } from '@x/transport-http/node'
import { answerQuestions } from '../http/answer-questions.ts'

const work = tool('work', {
  description: 'Reports its progress',
  input: { type: 'object' },
  run: (_args, ctx) => {
    for (let done = 1; done <= 1000; done++) ctx.progress(done, 1000)
    return 'done'
  },
})

const unlimited = internalSettings({ maxNotificationsPerSecond: 1_000_000 })
const server = createServer({ name: 'bench', version: '1.0.0', tools: [work], ...unlimited })
answerQuestions(createHttpServer(nodeHandler(server)))

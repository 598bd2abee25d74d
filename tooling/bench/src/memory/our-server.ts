import { createServer as createHttpServer } from 'node:http'
import { type Exchange, serverOf } from '@x/exchange'
import { createServer, tool } from '@x/server'
import { nodeHandler } from '@x/transport-http/node'
import * as z from 'zod'
import { answerMemory } from './answer-memory.ts'

const echo = tool('echo', {
  description: 'Repeats a text',
  input: z.object({ text: z.string(), times: z.number().int().min(1).max(10) }),
  run: ({ text, times }) => text.repeat(times),
})

const work = tool('work', {
  description: 'Reports its progress, and ends when the client disconnects',
  run: (_args, ctx) =>
    new Promise<string>((resolve) => {
      ctx.signal.addEventListener('abort', () => resolve('cancelled'))
      ctx.progress(1, 2)
    }),
})

const server = createServer({ name: 'bench', version: '1.0.0', tools: [echo, work] })

/** The leaked objects of a server with a leak: an empty object or the whole call, for each request. */
const retained: object[] = []
const leaks: ReadonlyMap<string, Exchange> = new Map([
  ['leak-objects', (request, call) => (retained.push({}), server.exchange(request, call))],
  ['leak-calls', (request, call) => (retained.push(call), server.exchange(request, call))],
])

const leaking = leaks.get(process.argv[2] ?? '')
const served = leaking === undefined ? server : serverOf(leaking, server)

answerMemory(createHttpServer(nodeHandler(served)))

import { createServer as createHttpServer } from 'node:http'
import { type Exchange, serverOf } from '@x/exchange'
import { createServer, sealedState, tool } from '@x/server'
import { randomKey } from '@x/state-codec'
import { nodeHandler } from '@x/transport-http/node'
import * as z from 'zod'
import { type Call, callOf, echoCall, withProgress } from './calls.ts'
import { openConnection } from './connection.ts'
import { openUser, wrongAnswer } from './load.ts'
import { echoTool } from './our-servers.ts'
import { serveMeasured } from './peers/serve-measured.ts'
import type { Programs } from './processes.ts'

/** The server, which keeps something of each request if its argument names a leak. */
export const programs: Programs = {
  server: (leak = 'no-leak') => serveMeasured(createHttpServer(nodeHandler(createServed(leak)))),
}

const work = tool('work', {
  description: 'Reports its progress, and ends when the client disconnects',
  run: (_args, ctx) =>
    new Promise<string>((resolve) => {
      ctx.signal.addEventListener('abort', () => resolve('cancelled'))
      ctx.progress(1, 2)
    }),
})

const sure = z.object({ sure: z.boolean() })
const name = z.object({ name: z.string() })

/** A tool that is likely to leak: it asks twice at once inside a `finally`, listens to its signal, and has a step. */
const ask = tool('ask', {
  description: 'Records a step and asks two things at once',
  run: async (_args, ctx) => {
    let open = true
    ctx.signal.addEventListener('abort', () => {
      open = false
    })
    const price = await ctx.step('price', () => 17)
    try {
      const answers = await Promise.all([
        ctx.elicit('sure', { message: `Pay ${price}?`, schema: sure }),
        ctx.elicit('name', { message: 'Your name?', schema: name }),
      ])
      return JSON.stringify(answers)
    } finally {
      if (open) ctx.progress(1)
    }
  },
})

function createServed(leak: string): Parameters<typeof nodeHandler>[0] {
  const state = sealedState({ keys: [randomKey()] })
  const tools = [echoTool, work, ask]
  const server = createServer({ name: 'bench', version: '1.0.0', tools, state, strictReplay: false, log: () => {} })
  if (leak === 'no-leak') return server
  const retained: object[] = []
  const leaking: Exchange = (received, call) => {
    retained.push(leak === 'leak-calls' ? call : {})
    return server.exchange(received, call)
  }
  return serverOf(leaking, server)
}

/** Calls with a complete response, and below them streams that the client closes early. */
const calls = {
  requests: echoCall,
  suspended: callOf('tools/call', { name: 'ask', arguments: {} }, 'input_required'),
  subscriptions: callOf('subscriptions/listen', { notifications: { toolsListChanged: true } }, 'acknowledged'),
  progress: withProgress(callOf('tools/call', { name: 'work', arguments: {} }, 'notifications/progress')),
}

/** The calls of a load. */
export type Work = keyof typeof calls

/**
 * Calls a server repeatedly, over 16 connections that stay open or that are closed in the middle of a response.
 *
 * @throws Error for the first wrong response.
 */
export async function load(url: string, work: Work, count: number): Promise<void> {
  const call = calls[work]
  const drops = work === 'subscriptions' || work === 'progress'
  let left = count
  const runUser = async (): Promise<void> => {
    const user = openUser({ url, call })
    while (left > 0) {
      left -= 1
      await (drops ? dropCall(url, call) : user.call())
    }
    user.close()
  }
  await Promise.all(Array.from({ length: 16 }, runUser))
}

/** Closes the connection after the first event. */
function dropCall(url: string, { headers, body, expected }: Call): Promise<void> {
  return new Promise((resolve, reject) => {
    const connection = openConnection(url, headers)
    const onEvent = (data: string): void => {
      connection.close()
      if (data.includes(expected)) resolve()
      else reject(new Error(`the server is wrong: it sent ${data}`))
    }
    connection.send({ body, onEvent }).then((response) => reject(wrongAnswer(response)), reject)
  })
}

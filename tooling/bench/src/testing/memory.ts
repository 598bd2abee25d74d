import { createServer as createHttpServer } from 'node:http'
import { type Exchange, serverOf } from '@x/exchange'
import { createServer, tool } from '@x/server'
import { nodeHandler } from '@x/transport-http/node'
import { Agent, type Dispatcher, request } from 'undici'
import { type Call, callOf, echoCall, withProgress } from '../calls.ts'
import { echoTool } from '../our-servers.ts'
import { type Programs, serveMeasured } from '../processes.ts'

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

function createServed(leak: string): Parameters<typeof nodeHandler>[0] {
  const server = createServer({ name: 'bench', version: '1.0.0', tools: [echoTool, work] })
  if (leak === 'no-leak') return server
  const retained: object[] = []
  const leaking: Exchange = (received, call) => {
    retained.push(leak === 'leak-calls' ? call : {})
    return server.exchange(received, call)
  }
  return serverOf(leaking, server)
}

interface Workload {
  readonly call: Call
  /** True if the client closes the connection after the expected text, before the response ends. */
  readonly drops: boolean
}

const listened = { notifications: { toolsListChanged: true } }
const workloads = {
  requests: { call: echoCall, drops: false },
  subscriptions: {
    call: callOf('subscriptions/listen', listened, 'notifications/subscriptions/acknowledged'),
    drops: true,
  },
  progress: {
    call: withProgress(callOf('tools/call', { name: 'work', arguments: {} }, 'notifications/progress')),
    drops: true,
  },
} as const satisfies Readonly<Record<string, Workload>>

/** Requests with a complete response, or streams that the client closes early. */
export type Work = keyof typeof workloads

/** The options of a load. */
interface LoadOptions {
  readonly url: string
  readonly work: Work
  readonly count: number
}

/**
 * Calls a server repeatedly, over 16 connections that stay open or that are closed in the middle of a response.
 *
 * @throws Error for the first wrong response.
 */
export async function load({ url, work: kind, count }: LoadOptions): Promise<void> {
  const dispatcher = new Agent({ connections: 16, pipelining: 1 })
  let left = count
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      await callOnce(url, workloads[kind], dispatcher)
    }
  }
  try {
    await Promise.all(Array.from({ length: 16 }, worker))
  } finally {
    await dispatcher.destroy()
  }
}

async function callOnce(url: string, { call, drops }: Workload, dispatcher: Dispatcher): Promise<void> {
  const { body, headers } = call
  const response = await request(url, { method: 'POST', body, headers, dispatcher })
  let text = ''
  for await (const piece of response.body.setEncoding('utf8')) {
    text += String(piece)
    // The return from the loop destroys the body and its connection.
    if (drops && text.includes(call.expected)) return
  }
  if (!drops && response.statusCode === 200 && text.includes(call.expected)) return
  throw new Error(`the server is wrong: it answered ${response.statusCode} ${text.slice(0, 500)}`)
}

import { type Call, createCall } from '@x/exchange'
import { metaKeys, protocolVersion, type RpcRequest } from '@x/schema'
import { createServer, type McpServer, sealedState, tool } from '@x/server'
import { randomKey } from '@x/state-codec'
import * as z from 'zod'
import { answerQuestions, collectGarbage, type Programs } from '../processes.ts'

/** A question for the heap before some calls, and after each repetition of them. */
interface SuspendedQuestion {
  readonly calls: number
  readonly times: number
}

/** The bytes of heap in use after full collections. */
export interface SuspendedAnswer {
  readonly heaps: readonly number[]
}

/** Suspended calls, whose handlers retain their contexts with the argument `leak`. */
export const programs: Programs = {
  calls: (leak?: string) => answerQuestions((question: SuspendedQuestion) => suspend(question, leak === 'leak')),
}

/** Calls before the first measurement of the heap, so that compiled code and filled caches do not look like a leak. */
const warmUp = 3000

async function suspend({ calls, times }: SuspendedQuestion, leaks: boolean): Promise<SuspendedAnswer> {
  const retained: object[] = []
  const server = suspendingServer((context) => void (leaks && retained.push(context)))
  await suspendCalls(server, warmUp)
  const heaps = [await usedHeap()]
  for (let time = 0; time < times; time += 1) {
    await suspendCalls(server, calls)
    heaps.push(await usedHeap())
  }
  if (leaks && retained.length === 0) throw new Error('the handler retained nothing')
  return { heaps }
}

async function usedHeap(): Promise<number> {
  await collectGarbage()
  return process.memoryUsage().heapUsed
}

const sure = z.object({ sure: z.boolean() })
const name = z.object({ name: z.string() })

/**
 * Creates a server whose tool is likely to leak memory. It waits for several questions at once inside a `finally`,
 * listens to its signal, and records a step.
 */
function suspendingServer(retain: (context: object) => void): McpServer {
  const ask = tool('ask', {
    description: 'Records a step and asks two things at once',
    input: z.object({ call: z.number() }),
    run: async ({ call }, ctx) => {
      retain(ctx)
      let open = true
      ctx.signal.addEventListener('abort', () => {
        open = false
      })
      const price = await ctx.step('price', () => ({ call, price: 17 }))
      try {
        const answers = await Promise.all([
          ctx.elicit('sure', { message: `Pay ${price.price}?`, schema: sure }),
          ctx.elicit('name', { message: 'Your name?', schema: name }),
        ])
        return JSON.stringify(answers)
      } finally {
        if (open) ctx.progress(1)
      }
    },
  })
  const state = sealedState({ keys: [randomKey()] })
  return createServer({ name: 'suspended', version: '1', tools: [ask], state, strictReplay: false })
}

/** Makes calls that all end with a question. They share one signal, like the calls of a long connection. */
async function suspendCalls(server: McpServer, count: number): Promise<void> {
  const call = createCall()
  const atOnce = 100
  for (let from = 0; from < count; from += atOnce) {
    const length = Math.min(atOnce, count - from)
    await Promise.all(Array.from({ length }, (_, index) => suspendOne(server, from + index, call)))
  }
}

async function suspendOne(server: McpServer, id: number, call: Call): Promise<void> {
  const response = await server.exchange(requestOf(id), call)
  if ('result' in response && response.result['resultType'] === 'input_required') return
  throw new Error(`call ${id} must return input_required, and returned ${JSON.stringify(response).slice(0, 200)}`)
}

function requestOf(id: number): RpcRequest {
  const _meta = {
    [metaKeys.protocolVersion]: protocolVersion,
    [metaKeys.clientCapabilities]: { elicitation: {} },
    progressToken: id,
  }
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'ask', arguments: { call: id }, _meta } }
}

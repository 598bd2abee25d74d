import { type Call, createCall } from '@x/exchange'
import { metaKeys, protocolVersion, type RpcRequest } from '@x/schema'
import { createServer, type McpServer, sealedState, tool } from '@x/server'
import * as z from 'zod'

const sure = z.object({ sure: z.boolean() })
const name = z.object({ name: z.string() })

/** Retains the context of a call, so that a test can cause a leak. */
export type RetainContext = (context: object) => void

/**
 * Creates a server whose tool is likely to leak memory. It waits for several questions at once inside a `finally`,
 * listens to its signal, and records a step.
 */
export function suspendingServer(retain: RetainContext = () => {}): McpServer {
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
  const keys = [crypto.getRandomValues(new Uint8Array(32))]
  return createServer({
    name: 'suspended',
    version: '1',
    tools: [ask],
    state: sealedState({ keys }),
    strictReplay: false,
  })
}

const capabilities = { elicitation: {} }

/**
 * Makes calls that all end with a question, and answers none of them. The calls share one signal that never aborts,
 * like the calls of a long connection.
 */
export async function suspendCalls(server: McpServer, count: number): Promise<void> {
  const call = createCall()
  const atOnce = 100
  for (let from = 0; from < count; from += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - from) }, (_, index) =>
      suspendOne(server, from + index, call),
    )
    await Promise.all(some)
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
    [metaKeys.clientCapabilities]: capabilities,
    progressToken: id,
  }
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'ask', arguments: { call: id }, _meta } }
}

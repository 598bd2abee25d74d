import type { InputHandlers } from '@x/client'
import type { CallToolResult, Exchange, RpcRequest } from '@x/schema'
import { sealedState, type StateCodec, type Tool, tool } from '@x/server'
import * as z from 'zod'

/**
 * Keys as operators make them: 32 random bytes each, in hex; written down so that every process of a test has the same.
 */
export const keys = {
  first: '6d1f3c0a9be84725d0a1c7f2385e6b94fa07d3c85b1e624979c2ad10e8f3465b',
  second: 'c2947e5b60fd18a3e7b1094c6af8d2359e10c47b83da5f261d6840b9f72ac3e5',
} as const

/** The codec of an instance that has these keys. */
export function stateWith(...ring: readonly string[]): StateCodec {
  return sealedState({ keys: ring })
}

/** Outside the tools, so that each is turned into a form once. */
export const forms = {
  resolution: z.object({ resolution: z.enum(['Fixed', 'Duplicate']) }),
  original: z.object({ original: z.int() }),
  sure: z.object({ sure: z.boolean() }),
  login: z.object({ login: z.string() }),
} as const

/** The record of a test's tool over all of its runs. */
export interface Work {
  readonly saved: string[]
  readonly runs: string[]
}

/** Two rounds, then one piece of work: how a work item is resolved, and as a duplicate of which other one. */
export function resolveTool({ saved, runs }: Work = { saved: [], runs: [] }): Tool {
  return tool('resolve', {
    description: 'Resolves a work item',
    input: z.object({ id: z.int() }),
    annotations: { idempotentHint: true },
    run: async ({ id }, ctx) => {
      runs.push('began')
      const message = `How was #${id} resolved?`
      const { resolution } = await ctx.elicit('resolution', { message, schema: forms.resolution })
      runs.push(`resolution ${resolution}`)
      if (resolution === 'Fixed') return `#${id} is fixed`
      const { original } = await ctx.elicit('original', { message: 'Of which item?', schema: forms.original })
      runs.push(`original ${original}`)
      const count = await ctx.step('save', () => {
        saved.push(`#${id} duplicates #${original}`)
        return saved.length
      })
      return `#${id} duplicates #${original} (save ${count})`
    },
  })
}

/** Asks as often as it is told to, and gives all the answers. */
export const askOften = tool('often', {
  description: 'Asks again and again',
  input: z.object({ times: z.int() }),
  run: async ({ times }, ctx) => {
    const given: string[] = []
    for (let time = 1; time <= times; time += 1) {
      const message = `What is number ${time}?`
      const { login } = await ctx.elicit(`often/${time}`, { message, schema: forms.login })
      given.push(login)
    }
    return given.join(' ')
  },
})

/** A user who resolves every item as a duplicate of #17. */
export const duplicateOf17 = {
  elicit: (_, { key }) => {
    const content = key.startsWith('resolution') ? { resolution: 'Duplicate' } : { original: 17 }
    return { action: 'accept', content }
  },
} as const satisfies InputHandlers

/** The one text of a result. */
export function textOf({ content }: Pick<CallToolResult, 'content'>): string {
  const [block] = content
  return block?.type === 'text' ? block.text : JSON.stringify(content)
}

/** An exchange that gives every request to the next one, as a balancer without sticky sessions does. */
export function inTurns(...exchanges: readonly Exchange[]): Exchange {
  let next = 0
  return (request, call) => {
    const exchange = exchanges[next % exchanges.length]
    next += 1
    if (exchange === undefined) throw new Error('give at least one exchange')
    return exchange(request, call)
  }
}

/** An exchange that keeps what it was asked. */
export function recording(exchange: Exchange): { readonly exchange: Exchange; readonly requests: RpcRequest[] } {
  const requests: RpcRequest[] = []
  return {
    requests,
    exchange: (request, call) => {
      requests.push(request)
      return exchange(request, call)
    },
  }
}

import type { InputHandlers } from '@x/client'
import type { Exchange } from '@x/exchange'
import type { CallToolResult, RpcRequest } from '@x/schema'
import { sealedState, type StateCodec, type Tool, tool } from '@x/server'
import * as z from 'zod'

/** Two keys of 32 random bytes, in hex. They are constants, so that all processes of a test have the same keys. */
export const keys = {
  first: '6d1f3c0a9be84725d0a1c7f2385e6b94fa07d3c85b1e624979c2ad10e8f3465b',
  second: 'c2947e5b60fd18a3e7b1094c6af8d2359e10c47b83da5f261d6840b9f72ac3e5',
} as const

/** Creates the codec of an instance with these keys. */
export function stateWith(...ring: readonly string[]): StateCodec {
  return sealedState({ keys: ring })
}

/** Forms are created once, outside the tools. */
export const forms = {
  resolution: z.object({ resolution: z.enum(['Fixed', 'Duplicate']) }),
  original: z.object({ original: z.int() }),
  sure: z.object({ sure: z.boolean() }),
  login: z.object({ login: z.string() }),
} as const

/** Records the runs and the saved results of a test's tool. */
export interface Work {
  readonly saved: string[]
  readonly runs: string[]
}

/** Creates a tool that asks for the resolution of a work item, asks for the original of a duplicate, and saves once. */
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

/** Answers for a user who resolves every item as a duplicate of #17. */
export const duplicateOf17 = {
  elicit: (_, { key }) => {
    const content = key.startsWith('resolution') ? { resolution: 'Duplicate' } : { original: 17 }
    return { action: 'accept', content }
  },
} as const satisfies InputHandlers

/** Returns the text of a result that has one text block. */
export function textOf({ content }: Pick<CallToolResult, 'content'>): string {
  const [block] = content
  return block?.type === 'text' ? block.text : JSON.stringify(content)
}

/** Creates an exchange that records its requests. */
export function recordRequests(exchange: Exchange): { readonly exchange: Exchange; readonly requests: RpcRequest[] } {
  const requests: RpcRequest[] = []
  return {
    requests,
    exchange: (request, call) => {
      requests.push(request)
      return exchange(request, call)
    },
  }
}

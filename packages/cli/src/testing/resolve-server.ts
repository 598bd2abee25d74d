import { createServer, form, tool } from '@x/server'
import { sealedState } from '@x/state-codec'
import { z } from 'zod'
import { readKeys } from './keys.ts'

/** Steps that were executed. */
export const effects: string[] = []

const resolution = form(z.object({ how: z.string() }))

const resolve = tool('resolve', {
  description: 'Resolves an item after a question',
  input: z.object({ id: z.number() }),
  run: async ({ id }, ctx) => {
    const title = await ctx.step('read', () => {
      effects.push('read')
      return `Item ${id}`
    })
    const { how } = await ctx.elicit('how', { message: `How was "${title}" resolved?`, schema: resolution })
    if (how === 'fail') throw new Error('The handler fails')
    if (how === 'nothing') return `${title} stays for ${ctx.principal?.subject ?? 'nobody'}`
    await ctx.step('save', () => void effects.push('save'))
    return `${title}: ${how}`
  },
})

/** One tool asks and saves. The keys are those of the tests. */
export const server = createServer({
  name: 'resolve',
  version: '1.0.0',
  tools: [resolve],
  state: sealedState({ keys: readKeys() }),
  log: () => {},
})

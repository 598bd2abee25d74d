import { form, type ServerDefinition, tool } from '@x/server'
import * as z from 'zod'

// #region definition
export const bugs = new Map<number, string>()

const resolution = form(z.object({ resolution: z.enum(['Fixed', 'Duplicate']) }))

const resolveBug = tool('resolve_bug', {
  description: 'Resolves a bug',
  input: z.object({ id: z.number().int() }),
  async run({ id }, ctx) {
    const before = await ctx.step('read', () => bugs.get(id) ?? 'New')
    const answer = await ctx.elicit('how', {
      message: `It is ${before}. How was it resolved?`,
      schema: resolution,
    })
    await ctx.step('save', () => void bugs.set(id, answer.resolution))
    ctx.log('info', `Resolved #${id}`)
    return `#${id} is ${answer.resolution}`
  },
})

export const definition = { name: 'tracker', version: '1.0.0', tools: [resolveBug] } satisfies ServerDefinition
// #endregion definition

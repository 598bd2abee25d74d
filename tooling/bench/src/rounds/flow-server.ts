import { createServer, form, sealedState, type McpServer, tool } from '@x/server'
import { randomKey } from '@x/state-codec'
import { z } from 'zod'

const resolution = form(z.object({ resolution: z.enum(['Fixed', 'Duplicate']) }))
const original = form(z.object({ id: z.number().int() }))

const resolveBug = tool('resolve_bug', {
  description: 'Resolves a bug',
  input: z.object({ id: z.number().int() }),
  async run({ id }, ctx) {
    const how = await ctx.elicit('resolution', { message: 'How was it resolved?', schema: resolution })
    const bug = await ctx.elicit('original', { message: 'Which bug does it repeat?', schema: original })
    return `#${id} is ${how.resolution} of #${bug.id}`
  },
})

/** A server whose tool asks twice, and whose state is sealed. */
export function flowServer(): McpServer {
  return createServer({
    name: 'bench',
    version: '1.0.0',
    state: sealedState({ keys: [randomKey()] }),
    tools: [resolveBug],
  })
}

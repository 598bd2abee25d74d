import { createServer, form, sealedState, type McpServer, type ServerDefinition, tool } from '@x/server'
import { randomKey } from '@x/state-codec'
import * as z from 'zod'

const description = 'Resolves a bug'
const input = z.object({ id: z.number().int() })
const [howMessage, bugMessage] = ['How was it resolved?', 'Which bug does it repeat?']

const resolution = form(z.object({ resolution: z.enum(['Fixed', 'Duplicate']) }))
const original = form(z.object({ id: z.number().int() }))

const resolveBug = tool('resolve_bug', {
  description,
  input,
  async run({ id }, ctx) {
    const how = await ctx.elicit('resolution', { message: howMessage, schema: resolution })
    const bug = await ctx.elicit('original', { message: bugMessage, schema: original })
    return `#${id} is ${how.resolution} of #${bug.id}`
  },
})

/** The same tool with schemas that it builds in each run. */
const resolveBugInline = tool('resolve_bug', {
  description,
  input,
  async run({ id }, ctx) {
    const resolution = z.object({ resolution: z.enum(['Fixed', 'Duplicate']) })
    const how = await ctx.elicit('resolution', { message: howMessage, schema: resolution })
    const bug = await ctx.elicit('original', { message: bugMessage, schema: z.object({ id: z.number().int() }) })
    return `#${id} is ${how.resolution} of #${bug.id}`
  },
})

interface FlowOptions {
  readonly inline?: boolean
  readonly extensions?: ServerDefinition['extensions']
}

/** Creates a server with sealed state, whose tool asks two questions. */
export function flowServer({ inline = false, extensions }: FlowOptions = {}): McpServer {
  return createServer({
    name: 'bench',
    version: '1.0.0',
    state: sealedState({ keys: [randomKey()] }),
    // Ignores the warning about schemas that are built in each run.
    log: () => {},
    tools: [inline ? resolveBugInline : resolveBug],
    extensions: extensions ?? [],
  })
}

import { createClient } from '@x/client'
import { createServer, form, randomKey, sealedState, tool } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import * as z from 'zod'
import { printingFetch } from '../wire.mjs'

const reason = form(z.object({ resolution: z.enum(['Fixed', 'Duplicate']) }))
const original = form(z.object({ duplicateOfId: z.number() }))
const update = tool('update_work_item', {
  description: 'Resolves a bug',
  input: z.object({ workItemId: z.int() }),
  async run({ workItemId }, ctx) {
    const { resolution } = await ctx.elicit('resolution', { message: 'How was it resolved?', schema: reason })
    if (resolution !== 'Duplicate') return `#${workItemId} is ${resolution}`
    const { duplicateOfId } = await ctx.elicit('original', { message: 'Of which item?', schema: original })
    return `#${workItemId} is a duplicate of #${duplicateOfId}`
  },
})
const state = sealedState({ keys: [randomKey()] })
const http = await serveHttp(createServer({ name: 'items', version: '1.0.0', state, tools: [update] }), { port: 0 })

const answers = { 'How was it resolved?': { resolution: 'Duplicate' }, 'Of which item?': { duplicateOfId: 4301 } }
const connection = connectHttp(http.url, { fetch: printingFetch })
const client = createClient(connection, {
  name: 'host',
  version: '1.0.0',
  elicit: ({ message }) => ({ action: 'accept', content: answers[message] }),
})
await client.callTool('update_work_item', { workItemId: 4522 })

await connection.close()
await http.close()

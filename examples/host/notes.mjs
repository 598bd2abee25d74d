import { createServer, form, randomKey, sealedState, tool } from '@x/server'
import { serveStdio } from '@x/transport-stdio'
import * as z from 'zod'

const noteForm = form(z.object({ text: z.string() }))
const add = tool('add', {
  description: 'Adds a note, whose text the user writes',
  annotations: { idempotentHint: true },
  async run(_, ctx) {
    const { text } = await ctx.elicit('text', { message: 'What should the note say?', schema: noteForm })
    return `Noted by ${process.pid}: ${text}`
  },
})
// With a key that stays, a question can be answered after a restart.
const state = sealedState({ keys: [process.env.STATE_KEY ?? randomKey()] })
serveStdio(createServer({ name: 'notes', version: '1.0.0', state, tools: [add] }))

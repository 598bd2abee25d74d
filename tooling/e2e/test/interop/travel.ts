import { legacy } from '@x/legacy'
import { createServer, form, type McpServer, tool } from '@x/server'
import * as z from 'zod'

// #region tool
const nightsForm = form(z.object({ nights: z.number().int() }))

const book = tool('book', {
  description: 'Books a trip',
  input: z.object({ city: z.string() }),
  async run({ city }, ctx) {
    const { nights } = await ctx.elicit('nights', { message: 'How many nights?', schema: nightsForm })
    return `${nights} nights in ${city}`
  },
})

/** Creates a server of these packages, for clients of all revisions. */
export const travel = (): McpServer =>
  createServer({ name: 'travel', version: '1.0.0', tools: [book], extensions: [legacy()] })
// #endregion

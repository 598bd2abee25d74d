import { createServer, form, tool } from '@x/server'
import { testClient } from '@x/testing'
import * as z from 'zod'

const person = form(z.object({ name: z.string() }))

const greet = tool('greet', {
  description: 'Greets a person',
  async run(_, ctx) {
    const { name } = await ctx.elicit('name', { message: 'Who are you?', schema: person })
    return `Hello, ${name}!`
  },
})
const definition = { name: 'demo', version: '1.0.0', tools: [greet] }

// Another instance of the server answers each round, and every instance has the test's key.
await using client = testClient((kit) => createServer({ ...definition, ...kit }), {
  answers: { name: { name: 'Ada' } },
  restartBetweenRounds: true,
})
const { content } = await client.callTool('greet')
console.log(content)
console.log(client.observations.rounds.map(({ instance, status, questions }) => ({ instance, status, questions })))

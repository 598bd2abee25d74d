import { createClient } from '@x/client'
import { createServer, form, randomKey, sealedState, tool } from '@x/server'
import * as z from 'zod'

const schema = form(z.object({ name: z.string() }))
let askLater = async () => {}
const greet = tool('greet', {
  description: 'Greets a user by name',
  async run(_, ctx) {
    askLater = () => ctx.elicit('again', { message: 'Who are you now?', schema })
    const { name } = await ctx.elicit('who', { message: 'Who are you?', schema })
    return `Hello, ${name}!`
  },
})
const state = sealedState({ keys: [randomKey()] })
const server = createServer({ name: 'demo', version: '1.0.0', state, tools: [greet] })

const elicit = async ({ message }) => {
  console.log(message)
  return { action: 'accept', content: { name: 'Ada' } }
}
const client = createClient(server, { name: 'host', version: '1.0.0', elicit })
const { content } = await client.callTool('greet')
console.log(content[0].text)

try {
  await askLater()
} catch (error) {
  console.log(error.message)
}

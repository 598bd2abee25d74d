import { createClient } from '@x/client'
import { legacy } from '@x/legacy'
import { createServer, form, randomKey, sealedState, tool } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import * as z from 'zod'

const nameForm = form(z.object({ name: z.string() }))

const greet = tool('greet', {
  description: 'Greets a user by name',
  async run(_, ctx) {
    const { name } = await ctx.elicit('who', { message: 'Who are you?', schema: nameForm })
    return `Hello, ${name}!`
  },
})
// A random key is enough for one instance. Give all instances of a fleet the same key, for example from the
// environment.
const state = sealedState({ keys: [randomKey()] })
// Most hosts begin with `initialize`, a request of older revisions. `legacy()` serves these hosts too.
const extensions = [legacy()]
const server = createServer({ name: 'hello', version: '1.0.0', state, tools: [greet], extensions })
const http = await serveHttp(server, { port: 3000 })

const connection = connectHttp(http.url)
const elicit = async ({ message }) => {
  console.log(message)
  return { action: 'accept', content: { name: 'world' } }
}
const client = createClient(connection, { name: 'hello-client', version: '1.0.0', elicit })
console.log((await client.tools.greet()).content)

await connection.close()
await http.close()

import { createClient } from '@x/client'
import { createServer, randomKey, sealedState, tool } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'

// Both instances have the same key, so each can continue the calls of the other.
const state = sealedState({ keys: [randomKey()] })
const serve = (instance) => {
  const index = tool('index', {
    description: 'Indexes three pages',
    async run(_, ctx) {
      for (const page of [1, 2, 3]) {
        await ctx.step(`page/${page}`, () => {
          console.log(`page ${page} at instance ${instance}`)
          // To keep the program short, the handler itself stops instance 1.
          if (page === 1) void first.close()
        })
      }
      return 'All pages are indexed'
    },
  })
  return serveHttp(createServer({ name: 'library', version: '1.0.0', state, tools: [index] }))
}
const first = await serve(1)
const second = await serve(2)

// Simulates a load balancer: each request goes to the next instance.
const connections = [connectHttp(first.url), connectHttp(second.url)]
let requests = 0
const balance = (request, call) => connections[requests++ % 2].exchange(request, call)
const client = createClient(balance, { name: 'host', version: '1.0.0' })
console.log((await client.callTool('index')).content[0])

await Promise.all(connections.map((connection) => connection.close()))
await second.close()

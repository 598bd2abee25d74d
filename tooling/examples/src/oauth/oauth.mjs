import { oauth } from '@x/auth/client'
import { loopbackRedirect } from '@x/auth/node'
import { protect } from '@x/auth/server'
import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { startIssuer } from './issuer.mjs'
import { printingFetch } from './printing-fetch.mjs'

const port = Number(process.env.PORT ?? 3000)
const resource = `http://localhost:${port}/mcp`
const { issuer, close } = await startIssuer({ port: process.env.ISSUER_PORT ?? 4000, resource, scope: 'items:read' })

// The server: every request requires a token of the issuer, for this resource and with this scope.
const whoAmI = tool('who_am_i', { description: 'Names the caller', run: (_, ctx) => ctx.principal.subject })
const server = createServer({ name: 'items', version: '1.0.0', tools: [whoAmI] })
const auth = protect({ resource, issuers: [issuer], scopes: ['items:read'] })
const http = await serveHttp(server, { port, host: 'localhost', auth })

// The browser. Omit `open` of `loopbackRedirect` to use your own.
async function browse(url) {
  console.log('\n# The browser of the user')
  const cookies = new Map()
  for (let next = url; next !== undefined; ) {
    const cookie = Array.from(cookies, (pair) => pair.join('=')).join('; ')
    const response = await printingFetch(next, { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) cookies.set(...line.split(';')[0].split(/=(.*)/).slice(0, 2))
    const location = response.headers.get('location')
    next = location === null ? undefined : new URL(location, next)
  }
  console.log('\n# The client again')
}

// The client.
console.log('# The client')
const connection = connectHttp(resource, {
  fetch: printingFetch,
  auth: oauth({
    client: { name: 'Items' },
    redirect: loopbackRedirect({ open: browse, showLoginUrl: () => {} }),
    fetch: printingFetch,
  }),
})
const client = createClient(connection, { name: 'items-cli', version: '1.0.0' })
const { content } = await client.callTool('who_am_i')
console.log(`\nThe tool answers: ${content[0].text}`)

await connection.close()
await http.close()
close()

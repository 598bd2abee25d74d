import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'

const ping = tool('ping', { description: 'Answers', run: () => 'pong' })
const server = createServer({ name: 'demo', version: '1.0.0', tools: [ping] })
const http = await serveHttp(server, { port: Number(process.env['PORT'] ?? 3000) })

const ready = await fetch(new URL('/readyz', http.url))
console.log(ready.status)

const fromAnotherSite = await fetch(http.url, { method: 'POST', headers: { origin: 'https://evil.example' } })
console.log(fromAnotherSite.status)

await http.close()

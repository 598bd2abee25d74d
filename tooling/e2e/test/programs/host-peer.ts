import { protect } from '@x/auth/server'
import { gateway } from '@x/gateway'
import { createServer, tool, type Tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { McpServer as OfficialServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { serveOfficial } from '../official-v1-server.ts'

// A server over HTTP: its kind, its port, and the issuer of its tokens.
const [kind = '', port = '', issuer = ''] = process.argv.slice(2)

const greet = tool('greet', { description: 'Greets', annotations: { readOnlyHint: true }, run: () => 'hello' })
const add = tool('add', { description: 'Adds', run: () => 'added' })
const whoAmI = tool('who-am-i', {
  description: 'Returns the user',
  annotations: { readOnlyHint: true },
  run: (_, { principal }) => `you are ${principal?.subject}`,
})
const serverOf = (...tools: readonly Tool[]) => createServer({ name: kind, version: '1.0.0', state: false, tools })

const kinds: Readonly<Record<string, () => Promise<unknown>>> = {
  greeter: () => serveHttp(serverOf(greet, add), { port: Number(port) }),
  old: () => serveOfficial(true, createOfficial, Number(port)),
  crm: () => {
    const auth = protect({ resource: `http://127.0.0.1:${port}/mcp`, issuers: [issuer], scopes: ['items:read'] })
    return serveHttp(serverOf(whoAmI), { port: Number(port), auth })
  },
  company: () =>
    serveHttp(gateway({ name: 'company', version: '1.0.0', upstreams: { inner: serverOf(greet) } }), {
      port: Number(port),
    }),
}

function createOfficial(): OfficialServer {
  const server = new OfficialServer({ name: 'old', version: '1.0.0' })
  const content = [{ type: 'text' as const, text: 'added' }]
  server.registerTool('add', { description: 'Adds', annotations: { idempotentHint: true } }, () => ({ content }))
  return server
}

void kinds[kind]?.().then(() => console.log(kind))

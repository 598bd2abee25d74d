import { createClient } from '@x/client'
import type { Exchange, Principal } from '@x/exchange'
import { gateway } from '@x/gateway'
import { createServer, sealedState, tool } from '@x/server'
import { tasksClient } from '@x/tasks/client'
import { tasks } from '@x/tasks/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { connectStdio } from '@x/transport-stdio'
import { Agent } from 'undici-6'
import { expect, test, describe } from 'vitest'
import { type Act, description, info, key, question, run, seen, untyped } from './mistakes.ts'

const around: readonly (readonly [string, Act, RegExp])[] = [
  [
    "the SDK's callTool({ name })",
    (log) => createClient(createServer({ ...info, log }), { ...info, log }).callTool(untyped({ name: 'x' })),
    /callTool takes the name and the arguments of the tool, as in callTool\('echo', \{ text \}\)/,
  ],
  [
    'a task without state, of a tool for one role',
    async (log) => {
      const visibleTo = (caller?: Principal): boolean => caller?.claims?.['role'] === 'admin'
      const tools = [tool('x', { description, task: 'required', visibleTo, run })]
      const made = createServer({ ...info, log, state: false, tools, extensions: [tasks({ runWorker: false })] })
      const asAdmin: Exchange = (request, { signal, context, notify }) =>
        made.exchange(request, { signal, context, notify, principal: { subject: 'ada', claims: { role: 'admin' } } })
      await createClient(asAdmin, { ...info, extensions: [tasksClient()] }).callTool('x')
    },
    /"x" cannot run as a task: without a `state` of the server/,
  ],
  [
    'an answer without action',
    (log) =>
      createClient(
        createServer({
          ...info,
          log,
          state: sealedState({ keys: [key] }),
          tools: [tool('x', { description, run: (_, ctx) => ctx.elicit('name', question).then(run) })],
        }),
        { ...info, elicit: () => untyped({ name: 'Ada' }) },
      ).callTool('x'),
    /the answer to "name" is not valid at action: expected "accept", "decline" or "cancel"/,
  ],
  [
    'a wildcard in allowedOrigins',
    () => serveHttp(createServer(info), { allowedOrigins: ['https://*.example.com'] }),
    /give scheme, host and port alone, as "https:\/\/app\.example\.com", without a wildcard/,
  ],
  [
    'a port in use',
    async () => {
      await using first = await serveHttp(createServer(info))
      await using _second = await serveHttp(createServer(info), { port: first.port })
    },
    /is in use: stop what listens there, or give another port/,
  ],
  [
    'a wrong path',
    async (log) => {
      await using http = await serveHttp(createServer({ ...info, log }))
      await using connection = connectHttp(new URL('/', http.url))
      await createClient(connection, info).discover()
    },
    /There is nothing here: the endpoint is \/mcp/,
  ],
  [
    'a URL for a connection',
    () => createClient(untyped('http://localhost:3000/mcp'), info),
    /takes a connection or a server, as in createClient\(connectHttp\(url\), /,
  ],
  [
    'a definition in place of a server',
    () => serveHttp(untyped(info)),
    /serveHttp takes a server, as in serveHttp\(createServer\(\{/,
  ],
  [
    'a port in place of options',
    () => serveHttp(createServer(info), untyped(3000)),
    /serveHttp takes an object of options, and was given a number/,
  ],
  ['no scheme', () => connectHttp('my-server/mcp'), /"my-server\/mcp" is not a URL; write one, as in http:\/\//],
  [
    'arguments as a text',
    () => connectStdio({ command: 'node', args: untyped('server.mjs') }),
    /takes a command and a list, as in \{ command: 'node', args: \['server\.mjs'\] \}/,
  ],
  [
    'the URL of an upstream',
    () => gateway({ ...info, upstreams: { crm: untyped('http://localhost:3000/mcp') } }),
    /upstream crm must be a server or have connect, as in \{ connect: \(\) => connectAny\(url\) \}/,
  ],
  [
    'authorization in auth and in headers',
    async () => {
      await using http = await serveHttp(createServer(info))
      const headers = { authorization: 'Bearer a' }
      await using connection = connectHttp(http.url, {
        headers,
        auth: { headers: () => headers, onResponse: () => undefined },
      })
      await createClient(connection, info).discover()
    },
    /The header authorization comes from `auth` and from `headers`: leave it to one of them/,
  ],
  [
    'a dispatcher of undici 6',
    async () => {
      await using http = await serveHttp(createServer(info))
      await using connection = connectHttp(http.url, { dispatcher: untyped(new Agent()) })
      await createClient(connection, info).discover()
    },
    /The option dispatcher is of undici 6 or earlier: give one of undici 7 or later/,
  ],
  [
    'console.log on the stdout of a server over stdio',
    async (log) => {
      const program = "console.log('listening'); process.stdin.once('data', () => process.exit(1))"
      await using connection = connectStdio({ command: process.execPath, args: ['-e', program], log })
      await createClient(connection, info).discover()
    },
    /a line is not a message: "listening"; a server writes its log to stderr, as with console\.error/,
  ],
  [
    'a misspelt tool in the rules of a gateway',
    async (log) => {
      const upstream = createServer({ ...info, tools: [tool('drop', { description, run })] })
      await using http = await serveHttp(upstream)
      await using made = gateway({
        ...info,
        log,
        state: sealedState({ keys: [key] }),
        upstreams: { u: { connect: () => connectHttp(http.url), tools: { deny: ['drpo'] } } },
      })
      await createClient(made, info).listTools()
    },
    /match no tool of u, and have no effect: deny "drpo"/,
  ],
]

describe('a mistake around a server is named, with what is right', () => {
  test.each(around)('%s', async (_, act, message) => {
    expect(await seen(act)).toMatch(message)
  })
})

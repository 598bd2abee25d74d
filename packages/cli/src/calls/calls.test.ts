import { fakeTerminal, keys } from '@tooling/vitest/fake-terminal'
import type { Middleware } from '@x/exchange'
import { gateway } from '@x/gateway'
import { connectAny } from '@x/legacy/client'
import { createServer, randomKey, sealedState, tool } from '@x/server'
import { tasks } from '@x/tasks/server'
import { type HttpServer, type RequestView, serveHttp } from '@x/transport-http/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOfferingServer } from '../testing/offering-server.ts'
import { runCommand } from '../testing/run-command.ts'
import { parseTargetText } from './target.ts'
import { formatProgress } from './progress-line.ts'

const state = sealedState({ keys: [randomKey()] })
let http: HttpServer
beforeAll(async () => {
  http = await serveHttp(createOfferingServer())
})
afterAll(() => http.close({ graceMs: 0 }))

describe('list', () => {
  test('writes what the server offers', async () => {
    const { code, out } = await runCommand(['list', http.url])
    expect(code).toBe(0)
    expect(out).toMatch(/^offering 1\.2\.3\n  Call greet first\.\n/)
    expect(out).toMatch(/^TOOL$/m)
    expect(out).toMatch(/^greet {2}Greets the person at the terminal$/m)
    expect(out).toMatch(/^review +Reviews code$/m)
    expect(out).toMatch(/^test:\/\/page +A page$/m)
  })

  test('writes the whole lists as JSON', async () => {
    const { json } = await runCommand(['list', http.url, '--json'])
    expect(json()).toMatchObject({
      server: { name: 'offering', version: '1.2.3' },
      instructions: 'Call greet first.',
      tools: [{ name: 'greet' }, { name: 'copy', inputSchema: { type: 'object' } }, {}, {}, {}],
      prompts: [{ name: 'review' }],
      resources: [{ uri: 'test://page' }],
      resourceTemplates: [],
    })
  })
})

test.each([
  [
    401,
    'resource_metadata="ORIGIN/metadata", scope="notes"',
    `The server rejects the token of --token (or MCPX_TOKEN)
  It takes tokens of https://login.example for https://notes.example/mcp with the scopes notes.
  Its log says what is wrong with this one. Without a token, you log in at a terminal.`,
  ],
  // A server must not choose where the command sends requests.
  [
    401,
    'resource_metadata="http://127.0.0.1:1/metadata"',
    'names no authorization server: look for the reason in its log',
  ],
  [
    403,
    'error="insufficient_scope", scope="a b"',
    'The token of --token (or MCPX_TOKEN) lacks a scope: the server wants a b\n  Get a token with it.',
  ],
])(
  'a token that the server rejects with %i %s is an error that says what it wants',
  async (status, challenge, text) => {
    const metadata = { resource: 'https://notes.example/mcp', authorization_servers: ['https://login.example'] }
    const authenticate = ({ header }: RequestView) => {
      const parameters = challenge.replace('ORIGIN', `http://${header('host')}`)
      return { status, message: 'no', headers: { 'WWW-Authenticate': `Bearer ${parameters}` } }
    }
    const auth = { authenticate, documents: { '/metadata': { body: metadata } } }
    await using rejecting = await serveHttp(createOfferingServer(), { auth })
    const { code, err } = await runCommand(['list', rejecting.url, '--token', 'x'])
    expect([code, err]).toEqual([1, expect.stringContaining(text)])
  },
)

describe('call', () => {
  test('asks the person at the terminal, and writes the result alone to the standard output', async () => {
    const person = fakeTerminal(['Who are you?', `Ada${keys.enter}`])
    const { code, out } = await runCommand(['call', http.url, 'greet'], { person })
    expect([code, out, person.left()]).toEqual([0, 'Hello, Ada!\n', []])
    expect(person.shown()).toMatch(/offering 1\.2\.3 .* asks/)
  })

  test('that is stopped cancels its task, and says which', async () => {
    const controller = new AbortController()
    let isCancelled = false
    const wait = tool('wait', {
      description: 'Waits',
      task: 'required',
      run: (_, { signal }) =>
        new Promise<string>((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            isCancelled = true
            reject(signal.reason)
          })
        }),
    })
    const stopAtPoll: Middleware = (next) => (request, call) => {
      if (request.method === 'tasks/get') controller.abort(new Error('Stopped by Ctrl-C'))
      return next(request, call)
    }
    const extensions = [tasks({ store: 'memory:' })]
    const server = createServer({ name: 'waiting', version: '1.0.0', tools: [wait], extensions, use: [stopAtPoll] })
    await using waiting = await serveHttp(server)
    const { code, err } = await runCommand(['call', waiting.url, 'wait'], { signal: controller.signal })
    expect(code).not.toBe(0)
    expect(err).toMatch(/^mcpx: the task \S+ is being cancelled\nmcpx: Stopped\n$/)
    await expect.poll(() => isCancelled).toBe(true)
  })

  test('that fails because an answer is missing cancels its task, but not one that has failed', async () => {
    const ask = tool('ask', {
      description: 'Asks',
      task: 'required',
      run: async (_, ctx) => (await ctx.elicitUrl('tour', { message: 'Look', url: 'https://example.com/' }), 'seen'),
    })
    const methods: string[] = []
    const record: Middleware = (next) => (request, call) => {
      methods.push(request.method)
      return next(request, call)
    }
    const extensions = [tasks({ store: 'memory:' })]
    const server = createServer({ name: 'asking', version: '1.0.0', tools: [ask], extensions, use: [record] })
    await using asking = await serveHttp(server)
    // A JSON object without the key.
    const answers = ['--answers', 'package.json']
    const unanswered = await runCommand(['call', asking.url, 'ask', ...answers])
    expect([unanswered.code, unanswered.err]).toEqual([
      1,
      expect.stringMatching(/^mcpx: the task \S+ is being cancelled\n.*"tour"/),
    ])
    expect(methods).toContain('tasks/cancel')
    methods.length = 0
    expect((await runCommand(['call', asking.url, 'ask'])).err).toMatch('the task failed')
    expect(methods).not.toContain('tasks/cancel')
  })

  test('without a terminal, says that the tool asks', async () => {
    const { code, out, err } = await runCommand(['call', http.url, 'greet'])
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/elicitation\.form\n  It asks "name": Who are you\?\n  Answer with --answers FILE/)
    expect(err).not.toMatch(/\n\s+at /)
  })

  test('that is sent again for more than a second says what it waits for, and fails with the cause', async () => {
    const upstream = { connect: () => connectAny('http://127.0.0.1:1/mcp') }
    await using gatewayHttp = await serveHttp(
      gateway({ name: 'g', version: '1.0.0', state, upstreams: { crm: upstream } }),
    )
    const { code, err } = await runCommand(['call', gatewayHttp.url, 'crm__find', '--timeout', '4s'])
    const [line, error] = err.trimEnd().split('\n')
    expect([code, line]).toEqual([1, expect.stringMatching(/^mcpx: waiting for \S+: Upstream "crm" .*; trying again$/)])
    expect(error).toMatch(/Upstream "crm" .*nothing listens at its address/)
  })

  test('of a tool that does not answer names the option that allows more', async () => {
    const hangs = tool('hangs', { description: 'Hangs', run: () => new Promise<never>(() => {}) })
    const hanging = await serveHttp(createServer({ name: 'slow', version: '1.0.0', tools: [hangs], log: () => {} }))
    const { code, err } = await runCommand(['call', hanging.url, 'hangs', '--timeout', '1s'])
    expect([code, err]).toEqual([1, expect.stringMatching(/progress for 1000 ms; allow more with --timeout\n$/)])
    await hanging.close({ graceMs: 0 })
  })

  test('shows progress at a terminal, and removes it before the result', async () => {
    const args = ['call', http.url, 'copy', '--args', '{"count":3}']
    const { out, err } = await runCommand(args, { columns: 80 })
    expect(out).toBe('3 files\n')
    expect(err).toContain('[#######-------------] 33% File 1')
    expect(err.endsWith('\r\u001B[K')).toBe(true)
    expect((await runCommand(args)).err).toBe('')
  })

  test('follows a call that becomes a task to its result', async () => {
    expect(await runCommand(['call', http.url, 'paint'])).toMatchObject({ code: 0, out: 'painted blue\n' })
  })

  test('ends with the code 5 for an error of the tool, also as JSON', async () => {
    const { code, out } = await runCommand(['call', http.url, 'fail'])
    expect([code, out]).toEqual([5, 'The tool returned an error:\nThe disk is full\n'])
    const { code: jsonCode, json } = await runCommand(['call', http.url, 'fail', '--json'])
    expect([jsonCode, json()]).toMatchObject([5, { isError: true }])
  })

  test('writes each kind of content, without control characters', async () => {
    const { out } = await runCommand(['call', http.url, 'mixed'])
    expect(out).toBe('red  [31mtext\n[image: image/png, 4 characters of Base64]\n[link: file:///a]\nembedded\n')
  })

  test.each([
    ['a tool that does not exist', () => [http.url, 'erase'], 1, 'erase'],
    ['arguments that are no JSON', () => [http.url, 'copy', '--args', '{count:3}'], 2, '--args is not a JSON object'],
    ['a server that is not there', () => ['http://127.0.0.1:1/mcp', 'copy'], 1, 'ECONNREFUSED'],
    ['a command that does not exist', () => ['mcpx-no-such-command', 'copy'], 1, 'mcpx-no-such-command'],
    ['an empty target', () => ['', 'copy'], 2, 'Write the URL of a server'],
  ] as const)('of %s has one message and no stack trace [OPS-010]', async (_, argsOf, expectedCode, message) => {
    const { code, out, err } = await runCommand(['call', ...argsOf()])
    expect([code, out]).toEqual([expectedCode, ''])
    expect(err).toContain(message)
    expect(err).not.toMatch(/\n\s+at /)
  })
})

describe('a server that requires a token', () => {
  let protectedHttp: HttpServer
  beforeAll(async () => {
    const rejection = { status: 401, message: 'A token is required', headers: { 'WWW-Authenticate': 'Bearer' } }
    protectedHttp = await serveHttp(createOfferingServer(), {
      auth: (request) => (request.header('authorization') === 'Bearer t0ken' ? { subject: 'ada' } : rejection),
    })
  })
  afterAll(() => protectedHttp.close({ graceMs: 0 }))

  test('gets it from the option or the environment', async () => {
    expect((await runCommand(['list', protectedHttp.url, '--token', 't0ken'])).code).toBe(0)
    const { code, err } = await runCommand(['list', protectedHttp.url])
    expect([code, err]).toEqual([1, expect.stringMatching(/A token is required\n +Log in with "mcpx list http/)])
  })
})

test.each([
  ['bridge', ['http://127.0.0.1:1/mcp', '--port', '0'], '--port is for a server that is a command'],
  ['bridge', ['node server.js'], 'Write --port'],
  ['bridge', ['node server.js', '--port', '70000'], 'from 0 to 65535'],
] as const)('%s %j is wrong usage', async (name, args, message) => {
  const { code, err } = await runCommand([name, ...args])
  expect([code, err]).toEqual([2, expect.stringContaining(message)])
})

test('bridge names a port that is in use, without a stack trace', async () => {
  await using other = await serveHttp(createOfferingServer())
  const { code, err } = await runCommand(['bridge', 'node server.js', '--port', String(other.port)])
  expect([code, err]).toEqual([
    1,
    expect.stringContaining('is in use: stop what listens there, or give another --port'),
  ])
  expect(err).not.toContain('fault of mcpx')
})

test.each([
  ['npx -y server', { command: 'npx', args: ['-y', 'server'] }],
  ['node "my server.js" \'--name=a b\' ""', { command: 'node', args: ['my server.js', '--name=a b', ''] }],
  [`env X="a b"c --y='d e' it's`, { command: 'env', args: ['X=a bc', '--y=d e', "it's"] }],
] as const)('the target %s is a command', (text, target) => {
  expect(parseTargetText(text)).toEqual(target)
})

test.each([
  [{ progress: 3 }, '3'],
  [{ progress: 1, total: 4, message: 'a' }, '[#####---------------] 25% a'],
  [{ progress: 9, total: 4 }, '[####################] 100%'],
  [{ progress: -1, total: 4 }, '[--------------------] 0%'],
  [{ progress: 1, total: 0 }, '1'],
])('the progress %j is shown as %s', (progress, text) => {
  expect(formatProgress(progress)).toBe(text)
})

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCall } from '@x/exchange'
import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { gateway } from '../index.ts'
import { namesIn, resultOf } from '../testing/gateway-kit.ts'
import { GatewayFileError, readGatewayFile } from './read-gateway-file.ts'

const key = '6d1f3c0a9be84725d0a1c7f2385e6b94fa07d3c85b1e624979c2ad10e8f3465b'
const secret = 'very-secret-value'
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-file-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function write(file: unknown, name = 'gateway.json'): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, typeof file === 'string' ? file : JSON.stringify(file))
  return path
}

const crm = { url: 'https://crm.example.com/mcp' }
const account = { issuer: 'https://login.example.com', id: 'gateway', secret: { env: 'SECRET' } }
const state = { keys: { env: 'KEYS' } }
const minimal = { name: 'company', state, upstreams: { crm } }
const withLogin = {
  ...minimal,
  listen: { protect: { resource: 'https://mcp.example.com/mcp', issuers: ['https://login.example.com'] } },
  login: { url: 'https://mcp.example.com/login', store: 'memory' },
  upstreams: { crm: { ...crm, auth: { userLogin: {} } } },
}
const read = async (file: unknown, environment: Record<string, string> = { KEYS: key }) =>
  readGatewayFile(await write(file), environment)

async function problemsOf(file: unknown, environment?: Record<string, string>): Promise<readonly string[]> {
  const error = await read(file, environment).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof GatewayFileError)) throw new Error('the file was accepted', { cause: error })
  expect(error.message).not.toContain(secret)
  return error.problems
}

test('a file is a gateway, whose secrets are in the environment and in other files [GWY-003]', async () => {
  const called = tool('whoami', { description: 'Names the caller', run: (_, ctx) => ctx.principal?.subject ?? 'none' })
  const upstream = createServer({ name: 'crm', version: '1.0.0', tools: [called], log: () => {} })
  const seen: unknown[] = []
  await using http = await serveHttp(upstream, {
    auth: (view) => {
      seen.push([view.header('authorization'), view.header('x-team')])
      return { subject: 'gateway' }
    },
  })
  await write(`# newest\n${key}\n`, 'state.keys')
  await write(`${secret}\n`, 'crm.token')
  const { gateway: options, http: listen } = await read(
    {
      name: 'company',
      state: { keys: { file: 'state.keys' } },
      listen: { port: 0, protect: { resource: 'https://mcp.example.com/mcp', issuers: ['https://login.example.com'] } },
      upstreams: {
        crm: { url: http.url, auth: { bearer: { file: 'crm.token' } }, headers: { 'X-Team': { env: 'TEAM' } } },
      },
    },
    { TEAM: 'sales' },
  )
  expect(listen).toMatchObject({ port: 0, auth: { documents: {} } })
  const server = gateway({ ...options, log: () => {} })
  expect(namesIn(await resultOf(server, 'tools/list'), 'tools')).toEqual(['crm__whoami'])
  const result = await resultOf(server, 'tools/call', { name: 'crm__whoami', arguments: {} })
  expect(result).toMatchObject({ content: [{ text: 'gateway' }] })
  expect(new Set(seen.map(String))).toEqual(new Set([`Bearer ${secret},sales`]))
  await server.close()
})

test('a command is started in the folder of the file, with the variables of its entry', async () => {
  const program = `
    import { createInterface } from 'node:readline'
    for await (const line of createInterface({ input: process.stdin })) {
      const { id, method, params } = JSON.parse(line)
      const tool = { name: 'where', inputSchema: { type: 'object' } }
      const text = JSON.stringify([process.env.TEAM, process.env.TOKEN, process.cwd()])
      const result = {
        initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'own', version: '1' } },
        'tools/list': { tools: [tool] },
        'tools/call': { content: [{ type: 'text', text }] },
      }[method]
      const error = { code: -32601, message: 'Method not found' }
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) }))
    }`
  await write(program, 'server.mjs')
  const own = { command: process.execPath, args: ['server.mjs'], env: { TEAM: 'sales', TOKEN: { env: 'OWN_TOKEN' } } }
  const file = { ...minimal, upstreams: { own: { ...own, tools: { pins: 'pins.json' } } } }
  const { gateway: options } = await read(file, { KEYS: key, OWN_TOKEN: secret })
  const server = gateway({ ...options, log: () => {} })
  const { content } = await resultOf(server, 'tools/call', { name: 'own__where', arguments: {} })
  expect(content).toMatchObject([{ text: JSON.stringify(['sales', secret, folder]) }])
  await server.close()
})

test.each([
  ['in memory', 'memory', {}],
  ['in an unreachable Redis', { redis: { env: 'REDIS' } }, { REDIS: 'redis://127.0.0.1:9' }],
])('callers log in at an upstream, with tokens %s', async (_, store, environment) => {
  const file = { ...withLogin, login: { ...withLogin.login, store } }
  const { gateway: options, http } = await read(file, { KEYS: key, ...environment })
  const server = gateway({ ...options, log: () => {} })
  const caller = createCall({ principal: { issuer: 'https://login.example.com', subject: 'ada' } })
  const listed = resultOf(server, 'tools/list', {}, caller)
  if (store === 'memory') expect(namesIn(await listed, 'tools')).toEqual(['crm__login'])
  else expect(namesIn(await listed, 'tools')).toEqual([])
  await using served = await serveHttp(server, { ...http, port: 0 })
  const page = await fetch(new URL('/login', served.url))
  expect([page.status, await page.text()]).toEqual([400, expect.stringContaining('login')])
})

describe('a file is rejected with all problems at once', () => {
  test.each<[string, unknown, readonly string[], Record<string, string>?]>([
    ['that is not JSON', '{"name": "a",}', ['it is not JSON: Expected double-quoted property name in JSON at']],
    ['that is a list', [], ['it is not a JSON object']],
    ['without members', {}, ['name: is missing, of the type string', 'state: ', 'upstreams: ']],
    ['with an unknown member', { ...minimal, upstream: {} }, ['"upstream" (did you mean "upstreams"?); the members']],
    ['named by a method', { ...minimal, state: { keys: { env: 'toString' } } }, ['the variable toString is']],
    ['without upstreams', { ...minimal, upstreams: {} }, ['upstreams: must have an upstream']],
    [
      'with a name that no upstream can have',
      { ...minimal, upstreams: { C__M: crm } },
      ['upstreams.C__M: must have at most 32'],
    ],
    [
      'with url and command, and with neither',
      { ...minimal, upstreams: { a: { ...crm, command: 'x' }, b: {} } },
      ['upstreams.a: must have url or command', 'upstreams.b: must have url or command'],
    ],
    [
      'with addresses that contain a password or a fragment',
      {
        ...minimal,
        upstreams: {
          a: { url: 'http://crm.example.com/mcp' },
          b: { url: `https://u:${secret}@x.example/` },
          c: { url: 'mcp' },
        },
      },
      ['upstreams.a.url: ', 'upstreams.b.url: ', 'upstreams.c.url: must be a URL'],
    ],
    [
      'with a secret in the file',
      {
        ...minimal,
        state: { keys: secret },
        upstreams: { a: { ...crm, auth: { bearer: secret } }, b: { ...crm, headers: { 'X-Key': secret } } },
      },
      ['state.keys: must be { "env": NAME }', 'upstreams.a.auth.bearer: must be', 'upstreams.b.headers.X-Key: must be'],
    ],
    [
      'with headers that the gateway writes',
      {
        ...minimal,
        upstreams: {
          a: { ...crm, headers: { Authorization: { env: 'A' }, 'Mcp-Name': { env: 'A' }, 'a b': { env: 'A' } } },
        },
      },
      [
        'upstreams.a.headers.Authorization: is written',
        'upstreams.a.headers.Mcp-Name: is written',
        'upstreams.a.headers.a b: must be',
      ],
    ],
    [
      'with two kinds of credentials',
      { ...minimal, upstreams: { a: { ...crm, auth: {} } } },
      ['upstreams.a.auth: must have one of'],
    ],
    [
      'that exchanges tokens which the gateway does not verify',
      {
        ...minimal,
        listen: { protect: { resource: 'https://mcp.example.com/mcp', issuers: ['https://login.example.com'] } },
        upstreams: {
          a: { ...crm, auth: { tokenExchange: { ...account, issuer: 'https://other.example.com' } } },
          b: { ...crm, auth: { tokenExchange: { ...account, subjectIssuer: 'https://other.example.com' } } },
          c: { ...crm, auth: { tokenExchange: account } },
        },
      },
      [
        'upstreams.a.auth.tokenExchange: must exchange tokens of',
        'upstreams.b.auth.tokenExchange: must exchange tokens',
      ],
      { KEYS: key, SECRET: secret },
    ],
    [
      'that exchanges tokens without a verification of its callers, and with a secret in the file',
      { ...minimal, upstreams: { a: { ...crm, auth: { tokenExchange: { ...account, secret } } } } },
      ['upstreams.a.auth.tokenExchange.secret: must be { "env": NAME }'],
    ],
    [
      'that exchanges tokens without a verification of its callers',
      { ...minimal, upstreams: { a: { ...crm, auth: { tokenExchange: account } } } },
      ['upstreams.a.auth.tokenExchange: must exchange tokens of an issuer in listen.protect.issuers'],
      { KEYS: key, SECRET: secret },
    ],
    [
      'whose callers log in, without the pages and without a verification of the callers',
      {
        ...minimal,
        listen: { protect: { resource: 'https://mcp.example.com/mcp', issuers: ['https://login.example.com'] } },
        upstreams: { a: { ...crm, auth: { userLogin: {} } } },
      },
      ['upstreams.a.auth.userLogin: needs login, with the pages, and listen.protect'],
    ],
    [
      'whose callers log in, without a verification of the callers',
      {
        ...minimal,
        login: { url: 'https://mcp.example.com/login', store: { redis: { env: 'REDIS' } } },
        upstreams: { a: { ...crm, auth: { userLogin: {} } } },
      },
      [
        'upstreams.a.auth.userLogin: needs login, with the pages, and listen.protect',
        'state.keys: the variable KEYS is not set',
        'login.store.redis: the variable REDIS is not set',
      ],
      {},
    ],
    [
      'that listens for other machines without a verification of its callers',
      { ...minimal, listen: { host: '0.0.0.0' } },
      ['listen.host: can be reached from other machines: add allowedHosts', 'listen: can be reached', 'state.keys: '],
      {},
    ],
    [
      'with secrets of logins in the file',
      {
        ...withLogin,
        login: { ...withLogin.login, client: { ...account, secret }, store: { redis: `redis://:${secret}@redis` } },
      },
      ['login.client.secret: must be { "env": NAME }', 'login.store: must be "memory" or { "redis": … }'],
    ],
    [
      'with addresses of logins that cannot be used',
      {
        ...withLogin,
        login: {
          url: 'https://mcp.example.com/login',
          metadataUrl: 'https://mcp.example.com/',
          store: { redis: { env: 'REDIS' } },
        },
      },
      ['login.store.redis: must be the address of a Redis server'],
      { KEYS: key, REDIS: `ftp://:${secret}@redis` },
    ],
    [
      'with a metadata document that no authorization server accepts',
      { ...withLogin, login: { ...withLogin.login, metadataUrl: 'https://mcp.example.com/' } },
      ['login: `metadataUrl` must be an https URL with a path'],
    ],
    [
      'whose secrets are missing',
      {
        ...minimal,
        upstreams: {
          a: { ...crm, auth: { bearer: { env: 'TOKEN' } } },
          b: { command: 'x', env: { K: { file: 'absent' } } },
        },
      },
      [
        'state.keys: the variable KEYS is not set',
        'upstreams.a.auth.bearer: the variable TOKEN is not set',
        'upstreams.b.env.K: the file absent cannot be read (ENOENT)',
      ],
      {},
    ],
    ['whose keys are weak', minimal, ['state.keys: '], { KEYS: 'short' }],
  ])('%s', async (_, file, expected, environment) => {
    const problems = await problemsOf(file, environment)
    expect(problems).toEqual(expected.map((beginning) => expect.stringContaining(beginning)))
    expect(problems).toHaveLength(expected.length)
  })

  test('that cannot be read', async () => {
    await expect(readGatewayFile(join(folder, 'absent.json'), {})).rejects.toMatchObject({
      message: expect.stringContaining('absent.json cannot be used:\n- it cannot be read (ENOENT); give the path of'),
      cause: { code: 'ENOENT' },
    })
  })
})

test('no error of a gateway contains a secret, also when the upstream repeats it [GWY-003]', async () => {
  const repeating = createHttpServer((request, response) => {
    response.writeHead(500, { 'content-type': 'text/plain' }).end(`no: ${request.headers.authorization}`)
  })
  await new Promise<void>((resolve) => repeating.listen(0, '127.0.0.1', resolve))
  const address = repeating.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/mcp`
  const file = { ...minimal, upstreams: { crm: { url, auth: { bearer: { env: 'TOKEN' } } } } }
  const { gateway: options } = await read(file, { KEYS: key, TOKEN: secret })
  const server = gateway({ ...options, log: () => {} })
  await expect(resultOf(server, 'tools/call', { name: 'crm__x', arguments: {} })).rejects.toThrow(
    /^(?!.*very-secret-value).*Upstream/,
  )
  await server.close()
  repeating.close()
})

import type { RequestListener } from 'node:http'
import { type RequestView, serveHttp } from '@x/transport-http/node'
import { describe, expect, test } from 'vitest'
import { server } from '../testing/resolve-server.ts'
import { runCommand } from '../testing/run-command.ts'
import { discovery, sendJson, serveRaw } from '../testing/serve-raw.ts'

test('each check is a line of text, and the last line counts them', async () => {
  await using http = await serveHttp(server, { keepAliveMs: 200 })
  const args = ['doctor', http.url, '--tool', 'resolve', '--args', '{"id":1}']
  const { code, out } = await runCommand(args)
  const lines = out.trim().split('\n')
  expect([code, lines.length, lines.at(-1)]).toEqual([0, 22, '18 right, 0 wrong, 2 skipped.'])
  expect(lines[0]).toMatch(/^ok {4}reach {10}The endpoint answers in \d+ ms\.$/)
  expect(out).toContain('The state of a call opens on 8 of 8 connections.')
})

test('a tool that rejects its arguments is quoted, so that the reader writes them after --args', async () => {
  await using http = await serveHttp(server, { keepAliveMs: 200 })
  const { out } = await runCommand(['doctor', http.url, '--tool', 'resolve'])
  expect(out).toMatch(
    /skip +rounds +The tool resolve asks nothing with these arguments: it fails with "Invalid arguments for tool .*id/,
  )
})

const lacksScopes = {
  status: 403,
  message: 'no',
  headers: { 'WWW-Authenticate': 'Bearer error="insufficient_scope", scope="items:read items:write"' },
}

test('a token that lacks a scope is a finding with the scope and the remedy', async () => {
  const auth = () => lacksScopes
  await using http = await serveHttp(server, { auth })
  const { json } = await runCommand(['doctor', http.url, '--token', 'x', '--json'])
  const { checks } = Object(json())
  expect(checks).toContainEqual({
    id: 'auth',
    status: 'wrong',
    found: 'The token lacks a scope for server/discover: the server wants items:read items:write.',
    change: expect.stringContaining(`Grant it with "mcpx list ${http.url}" at a terminal`),
  })
  expect(checks).toContainEqual({ id: 'discover', status: 'skipped', found: 'The token lacks a scope.' })
})

test('scopes that single methods want are named in the finding of the check that lacks them', async () => {
  const auth = ({ header }: { header(name: string): string | undefined }) =>
    header('mcp-method') === 'server/discover' ? undefined : lacksScopes
  await using http = await serveHttp(server, { auth })
  const args = ['doctor', http.url, '--token', 'x', '--json', '--tool', 'resolve', '--args', '{"id":1}']
  const { json } = await runCommand(args)
  const { checks } = Object(json())
  for (const [id, method, command] of [
    ['lists', 'tools/list', `mcpx list ${http.url}`],
    ['unknown-method', 'mcpx/does-not-exist', `mcpx list ${http.url}`],
    ['unknown-tool', 'tools/call', `mcpx call ${http.url} TOOL`],
    ['stream', 'subscriptions/listen', `mcpx list ${http.url}`],
    ['rounds', 'tools/call', `mcpx call ${http.url} TOOL`],
  ])
    expect(checks).toContainEqual({
      id,
      status: 'wrong',
      found: `The token lacks a scope for ${method}: the server wants items:read items:write.`,
      change: expect.stringContaining(`Grant it with "${command}" at a terminal`),
    })
})

test.each([429, 503])('a server that answers %i says nothing about what a check examines', async (status) => {
  let count = 0
  await using http = await serveRaw((request, response) => {
    if (request.method === 'GET') return sendJson(response, 404, {})
    count += 1
    return count === 1
      ? sendJson(response, 200, { jsonrpc: '2.0', id: 1, result: discovery })
      : sendJson(response, status, { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'busy' } })
  })
  const { code, json } = await runCommand(['doctor', http.url, '--json', '--tool', 'x'])
  const { checks, ok } = Object(json())
  expect([code, ok, checks.filter((check: { status: string }) => check.status === 'wrong')]).toEqual([0, 3, []])
  const found = `The server cannot answer now: ${status}, error -32603: busy.`
  for (const id of [
    'headers',
    'probe-shape',
    'host',
    'depth',
    'lists',
    'unknown-tool',
    'keep-alive',
    'stream',
    'rounds',
  ])
    expect(checks).toContainEqual({ id, status: 'skipped', found })
})

test('a check whose request alone makes the server fail has found its fault', async () => {
  await using http = await serveRaw(async (request, response) => {
    const { length } = (await request.toArray()).join('')
    return length > 10_000 || request.headers['mcp-method'] !== 'server/discover'
      ? sendJson(response, 500, { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'bug' } })
      : sendJson(response, 200, { jsonrpc: '2.0', id: 1, result: discovery })
  })
  const { json } = await runCommand(['doctor', http.url, '--json'])
  const { checks } = Object(json())
  for (const id of ['size', 'depth', 'lists', 'unknown-method', 'unknown-tool'])
    expect(checks).toContainEqual(
      expect.objectContaining({ id, status: 'wrong', found: expect.stringContaining('500, error -32603: bug') }),
    )
})

test.each([
  ['x', 'skipped'],
  ['y', 'wrong'],
])('a server with tokens of its own is right for users who have one: %s is %s', async (token, status) => {
  const principal = { subject: 'ada' }
  const auth = ({ header }: RequestView) =>
    header('authorization') === 'Bearer x' ? principal : { status: 401, message: 'no' }
  await using http = await serveHttp(server, { auth, keepAliveMs: 200 })
  const { json } = await runCommand(['doctor', http.url, '--token', token, '--json'])
  expect(Object(json()).checks).toContainEqual(expect.objectContaining({ id: 'auth', status }))
})

test.each([
  [
    'without caching hints is wrong',
    { resourceTemplates: [] },
    'wrong',
    'resources/templates/list has no caching hints.',
  ],
  ['that does not exist is right', undefined, 'ok', expect.stringContaining('resources/list')],
])('a list of templates %s', async (_title, templates, status, found) => {
  const hints = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
  const results: Readonly<Record<string, object | undefined>> = {
    'server/discover': { ...discovery, capabilities: { resources: {} } },
    'resources/list': { ...hints, resources: [] },
    'resources/templates/list': templates,
  }
  await using http = await serveRaw(async (request, response) => {
    const { id = null, method = '' } = JSON.parse((await request.toArray()).join('') || '{}')
    const result = results[method]
    if (result !== undefined) return sendJson(response, 200, { jsonrpc: '2.0', id, result })
    return sendJson(response, 404, { jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } })
  })
  const { json } = await runCommand(['doctor', http.url, '--json'])
  expect(Object(json()).checks).toContainEqual(expect.objectContaining({ id: 'lists', status, found }))
})

test('an issuer that cannot answer now is neither misspelt nor a server without the revision', async () => {
  await using http = await serveRaw((request, response) => {
    const origin = `http://${request.headers.host}`
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`
    if (request.url?.startsWith('/.well-known/oauth-protected-resource') === true)
      return sendJson(response, 200, { resource: `${origin}/mcp`, authorization_servers: [origin] })
    if (request.method === 'POST' && request.headers.authorization === undefined)
      return response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }).end()
    return sendJson(response, 503, { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'no issuer' } })
  })
  const { json } = await runCommand(['doctor', http.url, '--json', '--token', 'x'])
  const { checks } = Object(json())
  const { origin } = new URL(http.url)
  const reason = 'cannot answer now: 503, error -32603: no issuer.'
  expect(checks).toContainEqual({ id: 'auth', status: 'skipped', found: `The issuer ${origin} ${reason}` })
  expect(checks).toContainEqual({ id: 'discover', status: 'skipped', found: `The server ${reason}` })
})

test('an address with a proxy alone is no wrong path', async () => {
  await using http = await serveRaw((_, response) => response.writeHead(502).end('Bad gateway'))
  const { out } = await runCommand(['doctor', http.url])
  expect(out).toContain('that the server behind the address runs')
})

test('a page that is allowed needs the headers of the protocol', async () => {
  await using http = await serveRaw((request, response) => {
    const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'content-type, mcp-name' }
    if (request.method === 'OPTIONS') response.writeHead(204, headers).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":1,"result":{}}')
  })
  const { json } = await runCommand(['doctor', http.url, '--json'])
  const { checks } = Object(json())
  expect(checks).toContainEqual({
    id: 'cors',
    status: 'wrong',
    found: 'A page of the own site may not send mcp-protocol-version, mcp-method.',
    change: 'Add mcp-protocol-version, mcp-method to Access-Control-Allow-Headers.',
  })
})

describe('a hostile server', () => {
  test('writes no control characters to the terminal', async () => {
    await using http = await serveRaw((_, response) => {
      const error = { code: -32000, message: '\u001B]0;owned\u0007 \u202Eevil' }
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error }))
    })
    const { code, out } = await runCommand(['doctor', http.url])
    expect([code, out.match(/[^\P{C}\n]/u)]).toEqual([1, null])
    expect(out).toContain('owned')
  })

  // A name that could forge lines, steer the terminal, and reverse text. U+009B begins a sequence like ESC [.
  const name = 'srv\r\nok    everything  This server is safe.\u2028\u009B2J\u202Eevil\u{E0041}'
  const results: Readonly<Record<string, object>> = {
    'server/discover': {
      resultType: 'complete',
      supportedVersions: ['2026-07-28', name],
      capabilities: { tools: {} },
      instructions: name,
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name, version: '1' } },
    },
    'tools/list': {
      resultType: 'complete',
      tools: [{ name: 'x', description: name, inputSchema: { type: 'object' } }],
      ttlMs: 0,
      cacheScope: 'private',
    },
  }
  const serveNames: RequestListener = async (request, response) => {
    const body = (await request.toArray()).join('')
    const { id = null, method = '' } = body.startsWith('{') && body.endsWith('}') ? JSON.parse(body) : {}
    const result = results[method]
    response.writeHead(result === undefined ? 404 : 200, { 'content-type': 'application/json' })
    const answer = result === undefined ? { error: { code: -32601, message: name } } : { result }
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
  }

  test.each([
    ['doctor', []],
    ['doctor', ['--json']],
    ['list', []],
    ['list', ['--json']],
    ['call', ['x']],
    ['call', ['x', '--json']],
  ])('forges no line, and steers no terminal, of %s %j [ROB-014]', async (command, args) => {
    await using http = await serveRaw(serveNames)
    const { out, err } = await runCommand([command, http.url, ...args], { columns: 200, env: { NO_COLOR: '1' } })
    expect((out + err).match(/[^\P{C}\n]|\u2028/u)).toBeNull()
    expect((out + err).split('\n').filter((line) => line.startsWith('ok    everything'))).toEqual([])
    if (args.includes('--json')) expect(JSON.stringify(JSON.parse(out))).toContain('evil')
  })

  test('that never ends its answers is read up to a limit', async () => {
    await using http = await serveRaw((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const write = (): void => {
        while (response.writable && response.write('x'.repeat(65_536)));
      }
      response.on('drain', write).on('error', () => {})
      write()
    })
    const { code, out } = await runCommand(['doctor', http.url])
    expect(code).toBe(1)
    expect(out).toContain('Check the path')
  })

  test('that closes each connection is not reached', async () => {
    await using http = await serveRaw((request) => request.socket.destroy())
    expect(await runCommand(['doctor', http.url])).toMatchObject({
      code: 1,
      out: expect.stringContaining('cannot be reached'),
    })
  })
})

test.each(['example.com/mcp', 'ftp://example.com', ''])('%j is no address of a server', async (address) => {
  const { code, err } = await runCommand(['doctor', address])
  expect([code, err]).toEqual([2, expect.stringContaining('is not a URL')])
})

test('Ctrl-C ends the command with a message', async () => {
  await using http = await serveRaw(() => controller.abort(new Error('Stopped by Ctrl-C')))
  const controller = new AbortController()
  const { code, err } = await runCommand(['doctor', http.url], { signal: controller.signal })
  expect([code, err]).toEqual([1, 'mcpx: Stopped\n'])
})

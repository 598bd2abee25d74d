import { createClient } from '@x/client'
import { describe, expect, test } from 'vitest'
import { connectTarget } from './connect-any.ts'
import { connectAny as connectOnNode } from './connect-node.ts'
import { connectAny as connectOnWeb } from './connect-web.ts'
import { parseTarget, type ServerTarget } from './target.ts'

describe('a target', () => {
  test.each<[string, ServerTarget, object]>([
    ['a URL as text', 'https://a.test/mcp', { transport: 'http', headers: {} }],
    ['a URL', new URL('http://a.test/mcp'), { transport: 'http' }],
    ['an entry with headers', { type: 'http', url: 'https://a.test', headers: { a: 'b' } }, { headers: { a: 'b' } }],
    ['an entry with a command', { command: 'npx', args: ['-y', 'x'] }, { transport: 'stdio' }],
    ['an entry with members of hosts', Object.assign({ command: 'npx' }, { disabled: true, comment: 'x' }), {}],
    ['an entry with a command and its type', { type: 'stdio', command: 'npx' }, { entry: { command: 'npx' } }],
  ])('may be %s', (_, target, parsed) => {
    expect(parseTarget(target)).toMatchObject(parsed)
  })

  test.each<[string, unknown, string]>([
    ['a command as text', 'npx -y server', '"npx -y server" is not a URL: a server is a URL'],
    ['another scheme', 'ws://a.test', 'an address of http or https, not of ws'],
    ['neither', {}, 'neither url nor command'],
    ['both', { url: 'https://a.test', command: 'npx' }, 'both url and command'],
    ['HTTP+SSE', { type: 'sse', url: 'https://a.test/sse' }, 'HTTP+SSE of 2024-11-05 is not supported'],
    ['a URL of another type', { type: 'stdio', url: 'https://a.test' }, 'has the type "http", not "stdio"'],
    ['a command of another type', { type: 'http', command: 'npx' }, 'has the type "stdio", not "http"'],
    ['a misspelt member', { url: 'https://a.test', header: {} }, '"header" is unknown: did you mean "headers"?'],
    ['a misspelt command', { comand: 'npx' }, '"comand" is unknown: did you mean "command"?'],
    ['arguments in a whole word', { command: 'npx', arguments: ['x'] }, '"arguments" is unknown: did you mean "args"?'],
    ['a command with headers', { command: 'npx', headers: { a: 'b' } }, '"headers" has no effect beside command'],
    [
      'a URL with variables',
      { url: 'https://a.test', env: { KEY: 'k' } },
      '"env" has no effect beside url: a server is',
    ],
    ['arguments in one text', { command: 'npx', args: '-y server' }, 'args must be an array of strings: a server is'],
    ['headers in one text', { url: 'https://a.test', headers: 'a: b' }, 'headers must be an object whose values are'],
    ['variables in one text', { command: 'npx', env: 'KEY=k' }, 'env must be an object: a server is'],
    ['an empty command', { command: '' }, 'command is the name or the path of a program'],
  ])('is not %s', (_, target, message) => {
    expect(() => connectOnNode(target as ServerTarget)).toThrow(message)
    expect(() => connectOnNode(target as ServerTarget)).toThrow(TypeError)
  })
})

test('a platform without processes refuses a command by its name, and takes a URL', () => {
  expect(() => connectOnWeb({ command: 'npx' })).toThrow('npx is a command, and this platform starts no processes')
  expect(connectOnWeb('https://a.test/mcp?key=secret').url).toBe('https://a.test/mcp')
})

test('an option that does not exist is refused', () => {
  expect(() => connectOnNode('https://a.test', { fetch } as object)).toThrow('fetch')
})

test.each([
  [{ handshakeTimeoutMs: Number.NaN }, 'handshakeTimeoutMs is NaN: write a whole number from 1'],
  [{ handshakeTimeoutMs: Infinity }, 'handshakeTimeoutMs is Infinity: write a whole number from 1'],
  [{ http: 'headers' }, 'connectAny: http must be an object, and is a string'],
  [{ log: true }, 'connectAny: log must be a function, and is a boolean'],
  [{ detectedRevisions: {} }, 'connectAny: detectedRevisions must be an object with get and set'],
])('an option of the wrong kind is refused: %o', (options, message) => {
  expect(() => connectOnNode('https://a.test', options as object)).toThrow(message)
})

test('an option of a transport that does not exist fails the first call', async () => {
  const connection = connectOnNode('https://a.test', { http: { tls: {} } as object })
  const client = createClient(connection, { name: 'host', version: '1' })
  await expect(client.listTools()).rejects.toThrow('tls')
})

test('a transport that is not installed is named in the error of the first call', async () => {
  const connection = connectTarget({ command: 'npx' }, {}, () => Promise.reject(new Error('not found')))
  const client = createClient(connection, { name: 'host', version: '1' })
  await expect(client.listTools()).rejects.toThrow('install it beside @x/legacy')
})

test('the name of a connection has no folder and no argument, which may hold secrets', () => {
  expect(connectOnNode({ command: '/opt/bin/server', args: ['--key', 'secret'] }).url).toBe('stdio:server')
})

test.each([
  ['an object', { b: '2' }],
  ['a function', async () => ({ b: '2' })],
])('headers of an entry are sent beside those of the options, given as %s', async (_, headers) => {
  const sent: (string | null)[][] = []
  const fetch = async (_url: string, init: RequestInit): Promise<Response> => {
    const got = new Headers(init.headers)
    sent.push([got.get('a'), got.get('b')])
    return new Response(null, { status: 401 })
  }
  await using connection = connectOnNode(
    { url: 'https://a.test', headers: { a: '1', b: '1' } },
    { http: { headers, fetch } },
  )
  expect(connection.canMixPrincipals).toBe(typeof headers === 'function')
  await createClient(connection, { name: 'host', version: '1', maxResendMs: 0 })
    .listTools()
    .catch(() => {})
  expect(sent).toEqual([['1', '2']])
})

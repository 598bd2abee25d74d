import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { createCall } from '@x/exchange'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gateway } from '../index.ts'
import { resultOf } from '../testing/gateway-kit.ts'
import { createRequest } from '../testing/scripted-upstream.ts'
import { openPinFile } from './file-pins.ts'
import { readServersFile, type ServersFileOptions } from './read-servers-file.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servers-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function read(file: object | string, options: Partial<ServersFileOptions> = {}) {
  const path = join(folder, 'mcp.json')
  await writeFile(path, typeof file === 'string' ? file : JSON.stringify(file))
  return readServersFile(path, { name: 'test-host', environment: { TOKEN: 'secret', EMPTY: '' }, ...options })
}

/** A program that prints what it was started with, and is no server. */
const printer =
  'console.error(JSON.stringify([process.argv.slice(1), process.env.KEY, process.env.LATE, process.cwd()]))'
const commandOf = (more: object = {}) => ({ command: process.execPath, args: ['-e', printer], ...more })

async function startOf(file: object | string, options: Partial<ServersFileOptions> = {}): Promise<unknown> {
  const lines: string[] = []
  const upstreams = await read(file, { ...options, stderr: (_, line) => lines.push(line) })
  const [upstream] = Object.values(upstreams)
  const connection = upstream?.connect({ principal: undefined, auth: undefined })
  await connection?.exchange(createRequest('tools/list'), createCall()).catch(() => {})
  await connection?.close()
  return JSON.parse(lines[0] ?? 'null')
}

describe('a command starts as its host would start it', () => {
  test('of Claude Code, with variables and defaults', async () => {
    const args = ['-e', printer, '${TOKEN}', '${EMPTY:-x}', '${MISSING:-a b}', '$HOME']
    const started = await startOf({ mcpServers: { notes: { ...commandOf({ env: { KEY: 'k-${TOKEN}' } }), args } } })
    expect(started).toEqual([['secret', '', 'a b', '$HOME'], 'k-secret', null, expect.any(String)])
  })

  test('of VS Code, with comments, inputs, a file of variables and a folder', async () => {
    await writeFile(join(folder, '.env'), 'KEY=from the file\nLATE="late"\n')
    const asked: unknown[] = []
    const file = `{
      // the servers of this project
      "inputs": [{ "type": "promptString", "id": "key", "description": "The key", "password": true }],
      "servers": {
        "my notes": { "type": "stdio", "command": ${JSON.stringify(process.execPath)}, "cwd": "\${workspaceFolder}",
          "args": ["-e", ${JSON.stringify(printer)}, "\${input:key}", "\${input:key}", "\${userHome}", "// no comment, }"],
          "envFile": "\${workspaceFolder}/.env", "env": { "KEY": 7 }, }, /* the only one */
      },
    }`
    const input: ServersFileOptions['input'] = (described) => {
      asked.push(described)
      return '${TOKEN}'
    }
    expect(await startOf(file, { input })).toEqual([
      ['${TOKEN}', '${TOKEN}', homedir(), '// no comment, }'],
      '7',
      'late',
      folder,
    ])
    const described = { id: 'key', description: 'The key', password: true, default: undefined, options: undefined }
    expect(asked).toEqual([described])
  })
})

test('servers of a file are one list of tools, with the headers of the file, pins, and names that models accept', async () => {
  const seen: unknown[] = []
  const greet = tool('greet.all', { description: 'Greets', run: () => 'hello' })
  await using http = await serveHttp(createServer({ name: 'greeter', version: '1.0.0', tools: [greet] }), {
    onRequest: (request) => {
      seen.push([request.headers.authorization, request.headers['x-team']])
      return false
    },
  })
  const headers = { Authorization: 'Bearer ${env:TOKEN}', 'X-Team': 'a' }
  const pins = openPinFile(join(folder, 'pins.json'))
  const upstreams = await read(
    { mcpServers: { 'My Greeter!': { type: 'http', url: http.url, headers }, off: { url: http.url, disabled: true } } },
    { pins, authorize: () => expect.unreachable() },
  )
  await using server = gateway({ name: 'host', version: '1.0.0', upstreams })
  const { tools } = await resultOf(server, 'tools/list')
  expect(tools).toMatchObject([{ name: expect.stringMatching(/^my-greeter__greet_all_[0-9a-f]{8}$/) }])
  const { name } = (tools as { readonly name: string }[])[0] ?? {}
  expect(await resultOf(server, 'tools/call', { name, arguments: {} })).toMatchObject({ content: [{ text: 'hello' }] })
  expect(seen.at(-1)).toEqual(['Bearer secret', 'a'])
  expect(await pins.storeOf('my-greeter').get('greet.all')).toMatch(/^[0-9a-f]{64}$/)
})

/** Members that hosts and their users write beside ours. */
const hostMembers =
  'alwaysAllow alwaysLoad author authProviderType autoApprove category chatMenu comment customUserVars description dev ' +
  'discoveryTimeoutMs disabledTools enabledFor enabledTools env_http_headers envVars excludeTools extension ' +
  'filterMapping gallery headersHelper httpHeaders icon iconPath id includeTools initTimeout keepAlive logoUrl metadata ' +
  'name note note oauthScopes registry requiresOAuth sandbox scopes serverInstructions source sseUrl startup tags ' +
  'targetAudience timeout title tools transport transportType trust version watchPaths _args //url #headers'

test('members of other hosts are ignored, whatever they are called, and so are empty ones of another kind of server', async () => {
  const more = Object.fromEntries(hostMembers.split(' ').map((member) => [member, 'x']))
  const unused = { args: [], env: {}, oauth: false, headers: {} }
  const mcpServers = {
    a: { ...unused, ...commandOf(), ...more },
    b: { ...unused, url: 'https://x', type: 'http', ...more },
  }
  expect(Object.keys(await read({ mcpServers }))).toEqual(['a', 'b'])
})

test('names become names of upstreams, and no two are the same', async () => {
  const names = ['My_Notes', 'my notes', '3d', 'éé', 'x'.repeat(40), `${'x'.repeat(40)}y`]
  const mcpServers = Object.fromEntries(names.map((name) => [name, commandOf()]))
  expect(Object.keys(await read({ mcpServers }))).toEqual([
    'my-notes',
    'my-notes-2',
    'server-3d',
    'server',
    'x'.repeat(32),
    `${'x'.repeat(28)}-2`,
  ])
})

test('a host chooses the login of a server at a URL, and gets the account that the file names', async () => {
  const asked: unknown[] = []
  const authorize: ServersFileOptions['authorize'] = (server) => void asked.push(server)
  const account = { auth: { CLIENT_ID: 'id', CLIENT_SECRET: 'no' } }
  await read({ mcpServers: { crm: { serverUrl: 'https://crm.example.com/mcp', ...account } } }, { authorize })
  const url = new URL('https://crm.example.com/mcp')
  expect(asked).toEqual([{ name: 'crm', url, clientId: 'id', clientSecret: 'no' }])
})

test.each<[string, object | string, string]>([
  ['that is no JSON', '{ "mcpServers": ', 'it is not JSON: '],
  ['without servers', { servers: [] }, 'must have mcpServers, or the servers of VS Code'],
  [
    'with an older transport',
    { mcpServers: { a: { type: 'sse', url: 'https://x' } } },
    'a.type: HTTP+SSE of 2024-11-05',
  ],
  ['with both', { mcpServers: { a: { command: 'x', url: 'https://x' } } }, 'a: must have url or command, and not both'],
  [
    'with misspelt headers',
    { mcpServers: { a: { url: 'https://x', header: {} } } },
    'mcp.json cannot be used:\n- a: "header" is unknown: did you mean "headers"?',
  ],
  [
    'with a misspelt command',
    { mcpServers: { a: { comand: 'x', agrs: [] } } },
    '- a: "comand" is unknown: did you mean "command"?\n- a: "agrs" is unknown: did you mean "args"?',
  ],
  [
    'with members in whole words',
    { mcpServers: { a: { command: 'x', arguments: [], enviroment: {}, workingDir: '/' } } },
    '- a: "arguments" is unknown: did you mean "args"?\n- a: "enviroment" is unknown: did you mean "env"?\n' +
      '- a: "workingDir" is unknown: did you mean "cwd"?',
  ],
  [
    'with headers for a command',
    { mcpServers: { a: { command: 'x', headers: { a: 'b' } }, b: { command: 'x', header: { a: 'b' } } } },
    '- a: "headers" has no effect: a command takes args, env, envFile, cwd\n- b: "header" has no effect: a command takes',
  ],
  [
    'with variables for a server at a URL',
    { mcpServers: { a: { url: 'https://x', env: { KEY: 'k' }, environment: { KEY: 'k' } } } },
    '- a: "env" has no effect: a server at a URL takes headers\n- a: "environment" has no effect: a server at a URL',
  ],
  ['with a command under another name', { mcpServers: { a: { cmd: 'x' } } }, 'did you mean "command"?'],
  [
    'with a misspelt account',
    { mcpServers: { a: { url: 'https://x', oauth: { cliendId: 'x' } } } },
    'a.oauth: "cliendId" is unknown: did you mean "clientId"?',
  ],
  [
    'with a secret that a screen would show',
    { inputs: [{ id: 'k', pasword: true }], servers: {} },
    'inputs.0: "pasword" is unknown: did you mean "password"?',
  ],
  ['with arguments in one text', { mcpServers: { a: { command: 'x', args: '-y' } } }, 'a.args: '],
  ['with a variable that is not set', { mcpServers: { a: { command: '${NONE}' } } }, 'a.command: the variable NONE'],
  ['with an unknown placeholder', { mcpServers: { a: { command: '${file:x}' } } }, 'a.command: ${file:x} is not known'],
  [
    'with an input without a host',
    { inputs: [{ id: 'k' }], servers: { a: { command: '${input:k}' } } },
    'give readServersFile',
  ],
  ['with an address that is none', { mcpServers: { a: { url: 'localhost' } } }, 'a.url: must be a URL'],
  [
    'with clear text to another machine',
    { servers: { a: { url: 'http://192.0.2.1/mcp' } } },
    'neither https: nor http:',
  ],
  [
    'with variables in a missing file',
    { servers: { a: { command: 'x', envFile: 'no' } } },
    'a.envFile: the file no cannot',
  ],
])('a file %s is refused with the place and the remedy', async (_title, file, problem) => {
  await expect(read(file)).rejects.toThrow(problem)
})

test('a missing file is refused with its path, what it must be, and the cause', async () => {
  await expect(readServersFile('absent/mcp.json', { name: 'test-host' })).rejects.toMatchObject({
    message: expect.stringMatching(
      /^absent\/mcp\.json cannot be used:\n- it cannot be read \(ENOENT\); .*"mcpServers"/,
    ),
    cause: { code: 'ENOENT' },
  })
})

test.each<[object, string]>([
  [{ pin: openPinFile('pins.json') }, 'readServersFile has no option `pin`: did you mean `pins`?'],
  [{ pins: 'pins.json' }, 'readServersFile: pins must be a file of pins, such as openPinFile(path), and is a string'],
])('an option that would have no effect is refused: %j', async (options, message) => {
  await expect(read({ mcpServers: {} }, options)).rejects.toThrow(message)
})

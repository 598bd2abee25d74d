import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@x/client'
import type { JsonObject } from '@x/schema'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { keysPath } from '../testing/keys.ts'
import { effects, server } from '../testing/resolve-server.ts'
import { runCommand } from '../testing/run-command.ts'

const module = fileURLToPath(new URL('../testing/resolve-server.ts', import.meta.url))
let folder = ''
let token = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcpx-state-'))
  const client = createClient(server, { name: 'host', version: '1.0.0', capabilities: { elicitation: {} } })
  const round = await client.manualRounds.callTool('resolve', { id: 17 })
  token = (round.status === 'input_required' && round.pendingCall.state) || ''
})
beforeEach(() => void effects.splice(0))
afterAll(() => rm(folder, { recursive: true, force: true }))

const replay = (...args: readonly string[]) =>
  runCommand(['replay', token, '--keys-file', keysPath, '--server', module, '--args', '{"id":17}', ...args])
const answered = (how: string): readonly string[] => [
  '--answers',
  JSON.stringify({ how: { action: 'accept', content: { how } } } satisfies JsonObject),
]

describe('state open', () => {
  test('shows the questions and the steps of a call', async () => {
    const { code, out } = await runCommand(['state', 'open', token, '--keys-file', keysPath])
    expect(code).toBe(0)
    expect(out).toMatch(/^sealed +\S+Z, with the key first$/m)
    expect(out).toContain('questions\n  how: not answered yet\n')
    expect(out).toContain('steps\n  read: Item 17\n')
    const { json } = await runCommand(['state', 'open', token, '--keys-file', keysPath, '--json'])
    expect(json()).toMatchObject({ keyId: 'first', round: 1, steps: { read: 'Item 17' }, questions: [{ key: 'how' }] })
  })

  test.each([
    [
      'an altered state',
      () => `${token.slice(0, -3)}AAA`,
      1,
      /^mcpx: The state does not open with these keys\. [^\n]+\n$/,
    ],
    [
      'a text that is no state',
      () => 'method,params',
      2,
      /^mcpx: The token names no key: it is not a sealed token[^\n]+\n$/,
    ],
  ])('shows nothing of %s, and says what is wrong [OPS-012]', async (_, make, exitCode, message) => {
    const { code, out, err } = await runCommand(['state', 'open', make(), '--keys-file', keysPath])
    expect([code, out]).toEqual([exitCode, ''])
    expect(err).toMatch(message)
  })
})

describe('replay executes no step [OPS-008]', () => {
  test('and without answers reaches the question again', async () => {
    const { code, out } = await replay()
    expect([code, effects]).toEqual([0, []])
    expect(out).toContain('Recorded steps: "read".')
    expect(out).toContain('It asks:\n  how: How was "Item 17" resolved?')
  })

  test('and with an answer stops before the step that follows', async () => {
    const { code, json } = await replay('--json', ...answered('fixed'))
    expect([code, effects]).toEqual([0, []])
    expect(json()).toMatchObject({ tool: 'resolve', recordedSteps: ['read'], end: 'step', step: 'save' })
    expect((await replay(...answered('fixed'))).out).toContain('before the step "save", which is not recorded')
  })

  test('and with the answers of a file', async () => {
    const path = join(folder, 'answers.json')
    await writeFile(path, answered('fixed')[1] ?? '')
    expect((await replay('--answers', path)).out).toContain('before the step "save"')
  })

  test('and shows the result of a handler that needs no further step, with the caller', async () => {
    const { code, out } = await replay(...answered('nothing'), '--principal', '{"subject":"ada"}')
    expect([code, effects]).toEqual([0, []])
    expect(out).toContain('It ends with the result:\nItem 17 stays for ada')
  })

  test('and ends with the code 5 for a handler that fails', async () => {
    expect(await replay(...answered('fail'))).toMatchObject({ code: 5 })
    expect(effects).toEqual([])
  })
})

describe('a replay that cannot begin', () => {
  test.each([
    ['arguments that are no object', ['--args', '[1]'], 2, '--args is not a JSON object'],
    ['arguments that the tool rejects', ['--args', '{"id":"x"}'], 5, ''],
    ['a tool that does not exist', ['--tool', 'erase'], 1, ''],
    ['a principal without a subject', ['--principal', '{}'], 2, '--principal has no "subject"'],
    ['a module that is not there', ['--server', '/nowhere/server.js'], 2, '/nowhere/server.js cannot be imported'],
    ['a module without a server', ['--server', keysPath.replace('two.keys', 'keys.ts')], 2, 'exports no server'],
  ] as const)('has %s', async (_, args, expectedCode, message) => {
    const { code, err } = await replay(...args)
    expect([code, err]).toEqual([expectedCode, expect.stringContaining(message)])
    expect(err).not.toMatch(/\n\s+at /)
    expect(effects).toEqual([])
  })

  test('has a server of several tools, and no name', async () => {
    const path = join(folder, 'two-tools.mjs')
    const index = fileURLToPath(import.meta.resolve('@x/server'))
    await writeFile(
      path,
      `import { createServer, tool } from '${index}'
const tools = ['a', 'b'].map((name) => tool(name, { description: name, run: () => name }))
export default createServer({ name: 'two', version: '1.0.0', tools, state: false })`,
    )
    const { code, err } = await replay('--server', path)
    expect([code, err]).toEqual([2, 'mcpx: The server has 2 tools; name the tool of the call with --tool\n'])
  })
})

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { AuthError } from '@x/auth/client'
import { createClient } from '@x/client'
import { connectAny } from '@x/legacy/client'
import { createServer } from '@x/server'
import type { HttpAuthorizer } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findRemedy } from '../src/dev/calls/explain-fault.ts'
import { type BuiltDevProgram, buildDevProgram, DevDriver } from '../src/testing/dev-driver.ts'

let program: BuiltDevProgram
beforeAll(async () => {
  program = await buildDevProgram()
})
afterAll(() => program.remove())

const effects = (): readonly string[] =>
  existsSync(program.effectsPath) ? readFileSync(program.effectsPath, 'utf8').trim().split('\n') : []
const start = (transport: string): Promise<DevDriver> =>
  DevDriver.start({
    target: `${process.execPath} ${program.path} ${transport}`,
    env: { ...process.env, EFFECTS: program.effectsPath },
  })

describe.each(['http', 'stdio'] as const)('a server over %s', (transport) => {
  let dev: DevDriver
  beforeAll(async () => {
    dev = await start(transport)
    await dev.ready()
  })
  afterAll(() => dev.close())
  beforeEach(() => rmSync(program.effectsPath, { force: true }))
  afterEach(() => dev.post('fault'))

  test('a question stays open while the source breaks, hangs and is repaired, and the new code uses the answer', async () => {
    const id = await dev.call('resolve', { id: 17 })
    const question = await dev.question()
    expect(question).toMatchObject({ key: 'how', kind: 'form', message: 'How was item 17 resolved?', callId: id })
    const { seq } = dev
    await program.change('"edition 1"', '"edition')
    const reason = await dev.waitFor(
      (event) => event.type === 'server' && event.server.status === 'ended' && event.server.reason,
      seq,
    )
    expect(reason).toMatch(/ended with code 1[\s\S]*SyntaxError/)
    await dev.post('answer', { id: question.id, action: 'accept', content: { how: 'Fixed' } })
    await program.change('"edition 1"', '(setInterval(() => console.error("hangs"), 10), await new Promise(() => {}))')
    await dev.waitFor((event) => event.type === 'output' && event.text === 'hangs', seq)
    await program.change('"edition 1"', '"edition 2"')
    const { status, result } = await dev.ended(id)
    expect([status, JSON.stringify(result)]).toEqual(['done', expect.stringContaining('#17 is Fixed in edition 2')])
    const pids = new Set(dev.messages(id).map(({ pid }) => pid))
    expect([pids.size, pids.has(undefined)]).toEqual([2, false])
  })

  test('prompts, templates, questions for a model and tasks are called', async () => {
    const lists = await dev.waitFor((event) => event.type === 'lists' && event.lists)
    expect([lists.prompts.items[0]?.name, lists.templates.items[0]?.uriTemplate]).toEqual(['review', 'item://{id}'])
    const completion = { kind: 'prompt', target: 'review', name: 'language', value: 'r', args: {} }
    expect(await dev.post('complete', completion)).toEqual({ values: ['rust'] })
    const { seq } = dev
    const prompt = dev.ended(await dev.callOf('prompt', 'review', { language: 'rust' }))
    expect(JSON.stringify((await prompt).result)).toContain('Review this rust program.')
    const read = await dev.ended(await dev.callOf('template', 'item://{id}', { id: '17' }))
    expect(JSON.stringify(read.result)).toContain('Item 17')
    const thinking = await dev.call('think')
    const { id, sampling } = await dev.question(seq)
    expect(JSON.stringify(sampling)).toContain('What is next?')
    await dev.post('answer', { id, action: 'accept', content: { text: 'Rest', model: 'me', stopReason: 'endTurn' } })
    expect(JSON.stringify((await dev.ended(thinking)).result)).toContain('Rest')
    expect(await dev.ended(await dev.call('build'))).toMatchObject({ status: 'done' })
    const task = await dev.waitFor((event) => event.type === 'task' && event.task)
    await dev.post('task', { id: task.id, action: 'status' })
    await dev.waitFor((event) => event.type === 'task' && event.task.status === 'completed')
  })

  test('each message of a call is recorded with its size, its state and its process', async () => {
    const { seq } = dev
    const id = await dev.call('resolve', { id: 3 })
    const { id: questionId } = await dev.question(seq)
    await dev.post('answer', { id: questionId, action: 'decline' })
    expect(await dev.ended(id)).toMatchObject({ status: 'tool_error' })
    const messages = dev.messages(id)
    expect(messages.map(({ direction }) => direction)).toEqual(['sent', 'received', 'sent', 'received'])
    expect(messages.map(({ stateBytes = 0 }) => stateBytes > 100)).toEqual([false, true, true, false])
    expect(messages.every(({ bytes, text, pid }) => bytes === text.length && pid !== undefined)).toBe(true)
    expect(messages[1]?.http?.status).toBe(transport === 'http' ? 200 : undefined)
    // Nor is what the command asked first an output of the server.
    expect(dev.output.filter((text) => text.includes('jsonrpc'))).toEqual([])
  })

  test.each([
    ['lose', 'pay', { status: 'failed', acts: 1, keys: 1 }, 'may have acted'],
    ['lose', 'put', { status: 'done', acts: 2, keys: 1 }, 'sent it again, with the same idempotency key'],
    ['twice', 'pay', { status: 'done', acts: 2, keys: 1 }, 'the same request twice'],
    ['later', 'pay', { status: 'done', acts: 1, keys: 1 }, 'was late, but still in time'],
  ] as const)('the fault "%s" of the tool %s', async (kind, tool, expected, lesson) => {
    await dev.post('fault', { kind, delayMs: 20 })
    const id = await dev.call(tool, { id: 1 })
    const call = await dev.ended(id)
    const sent = dev.messages(id).filter(({ direction }) => direction === 'sent')
    const keys = new Set(sent.map(({ text }) => /"[^"]*idempotencyKey":"[^"]*"/.exec(text)?.[0]))
    expect({ status: call.status, acts: effects().length, keys: keys.size }).toEqual(expected)
    expect(call.lesson).toContain(lesson)
  })

  // The process may have acted before it ended, as in a crash.
  test.each([
    ['put', 'done', 2, 'sent it again, with the same idempotency key'],
    ['pay', 'failed', 1, 'did not send it again, because the tool may have acted'],
  ])('the fault "kill" of the tool %s', async (tool, status, maxActs, lesson) => {
    const { seq } = dev
    await dev.post('fault', { kind: 'kill' })
    const call = await dev.ended(await dev.call(tool, { id: 1 }))
    expect(call).toMatchObject({ status, lesson: expect.stringContaining(lesson) })
    expect(effects().length).toBeLessThanOrEqual(maxActs)
    await dev.ready(seq)
  })

  test.each([
    ['argument', 'another argument'],
    ['state', 'a damaged state'],
  ])('the fault "%s" of an answer is rejected, and nothing happens', async (kind, subject) => {
    const { seq } = dev
    await dev.post('fault', { kind })
    const id = await dev.call('resolve', { id: 4 })
    const question = await dev.question(seq)
    await dev.post('answer', { id: question.id, action: 'accept', content: { how: 'Fixed' } })
    const call = await dev.ended(id)
    expect(findRemedy(call.error)).toContain('STATE_KEYS')
    expect(call).toMatchObject({
      status: 'failed',
      error: 'Invalid or expired requestState (-32602)',
      lesson: expect.stringContaining(`The server rejected ${subject}`),
    })
    expect(effects()).toEqual([])
  })

  test('the answer of a question is sent twice, with two effects and one result', async () => {
    const { seq } = dev
    await dev.post('fault', { kind: 'twice', at: 'answer' })
    const id = await dev.call('resolve', { id: 5 })
    const question = await dev.question(seq)
    await dev.post('answer', { id: question.id, action: 'accept', content: { how: 'Fixed' } })
    expect(await dev.ended(id)).toMatchObject({ status: 'done' })
    expect(effects()).toEqual(['resolve', 'resolve'])
  })

  test('a process that ends by itself is described, and starts again after a change', async () => {
    const { seq } = dev
    const id = await dev.call('crash')
    expect(await dev.ended(id)).toMatchObject({ status: 'failed' })
    const reason = await dev.waitFor((event) => event.type === 'server' && event.server.reason, seq)
    expect(reason).toContain('ended with code 3')
    await program.change('', '')
    await dev.ready(seq)
  })

  test.each(['2026-07-28', '2025-11-25'])(
    'a host of %s at /mcp has its question answered after a restart, and reads the new tools',
    async (revision) => {
      const { seq } = dev
      await using connection = connectAny(dev.dev.hostUrl ?? '', { revision: revision as '2025-11-25' })
      const client = createClient(connection, {
        name: 'host',
        version: '1.0.0',
        elicit: async () => {
          const before = dev.seq
          await program.change('"Pays"', `"Pays ${revision}"`)
          await dev.ready(before)
          return { action: 'accept', content: { how: 'Fixed' } }
        },
      })
      const changes = client.listen({ toolsListChanged: true })[Symbol.asyncIterator]()
      await changes.next()
      const result = await client.callTool('resolve', { id: 6 })
      expect(JSON.stringify(result)).toContain('#6 is Fixed')
      expect(await changes.next()).toMatchObject({ value: { type: 'toolsListChanged' } })
      expect(JSON.stringify(await client.listTools())).toContain(`Pays ${revision}`)
      const call = await dev.waitFor(
        (event) => event.type === 'call' && event.call.source === 'host' && event.call.status === 'done' && event.call,
        seq,
      )
      expect(new Set(dev.messages(call.id).map(({ pid }) => pid)).size).toBe(2)
    },
  )

  test('a client of 2025-11-25 cannot take its question across a restart, and a fault of the answer says so', async () => {
    const { seq } = dev
    await dev.post('client', { revision: '2025-11-25' })
    await dev.ready(seq)
    await dev.post('fault', { kind: 'twice', at: 'answer' })
    const id = await dev.call('resolve', { id: 7 })
    await dev.waitFor((event) => event.type === 'client' && event.text.includes('has no second request'), seq)
    const question = await dev.question(seq)
    await dev.post('restart')
    const error = expect.stringContaining('is open in the process that ends')
    expect(await dev.ended(id)).toMatchObject({ status: 'failed', error })
    await dev.waitFor((event) => event.type === 'question' && event.question.id === question.id && !event.isOpen, seq)
    const again = dev.seq
    await dev.post('client', { revision: 'probe' })
    await dev.ready(again)
  })
})

test('a server that wants more scopes than a login has waits for a login, whose scopes are said', async () => {
  const challenge = { 'WWW-Authenticate': 'Bearer error="insufficient_scope", scope="items:write"' }
  const rejection = { status: 403, message: 'no', headers: challenge }
  await using http = await serveHttp(createServer({ name: 'more', version: '1.0.0', tools: [] }), {
    auth: () => rejection,
  })
  const pending = new AuthError('login_pending', 'A login is open', {
    url: new URL('https://login.example/'),
    addedScopes: ['items:write'],
  })
  let announce = (_: Error): void => {}
  const auth: HttpAuthorizer = {
    headers: () => ({}),
    onResponse: () => {
      announce(pending)
      return new Promise(() => {})
    },
    onLoginChange: (_, listener) => {
      announce = listener
      return () => {}
    },
  }
  const dev = await DevDriver.start({ target: http.url, http: { auth } })
  const reason = await dev.waitFor((event) => event.type === 'server' && event.server.reason)
  expect(reason).toBe('The server requires items:write, which your login lacks: visit https://login.example/')
  await dev.close()
})

test('a port that is taken is said with the command that helps', async () => {
  await using taken = await serveHttp(createServer({ name: 'taken', version: '1.0.0', tools: [] }))
  const target = `${process.execPath} -e "require('http').createServer().listen(${taken.port}, '127.0.0.1')"`
  const dev = await DevDriver.start({ target, env: process.env })
  const reason = await dev.waitFor((event) => event.type === 'server' && event.server.reason)
  // Without the stack that the server wrote, which is in the output.
  expect(reason).toMatch(new RegExp(`^port ${taken.port} is in use\\. [^\\n]*$`))
  expect(reason).toContain(`PORT=${taken.port + 1} npx mcpx dev '${target.replaceAll("'", "'\\''")}'`)
  await dev.close()
})

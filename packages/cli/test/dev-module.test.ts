import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import hosts from '../../../docs/hosts.json' with { type: 'json' }
import { hostNames } from '../src/dev/calls/profiles.ts'
import type { StampedEvent } from '../src/dev/events.ts'
import { type BuiltDevProgram, buildDevProgram, DevDriver } from '../src/testing/dev-driver.ts'
import { runCopiedTest, runShell } from '../src/testing/run-copied.ts'
import { serveWho } from '../src/testing/who-server.ts'
import { toCurl } from '../web/src/texts/curl.ts'
import { toTest } from '../web/src/texts/node-test.ts'

let program: BuiltDevProgram
beforeAll(async () => {
  program = await buildDevProgram()
})
afterAll(() => program.remove())

describe('a module', () => {
  let dev: DevDriver
  beforeAll(async () => {
    dev = await DevDriver.start({
      target: program.path,
      // Its processes import the built packages, because the oldest Node version runs no TypeScript.
      env: { ...process.env, EFFECTS: program.effectsPath, NODE_OPTIONS: '-C dist' },
    })
    await dev.ready()
  })
  afterAll(() => dev.close())

  test('is served by two processes in turns, whose rounds continue each other', async () => {
    const { seq } = dev
    const id = await dev.call('resolve', { id: 8 })
    const question = await dev.question(seq)
    await dev.post('answer', { id: question.id, action: 'accept', content: { how: 'Fixed' } })
    expect(await dev.ended(id)).toMatchObject({ status: 'done' })
    const pids = dev.messages(id).map(({ pid }) => pid)
    expect([new Set(pids).size, pids[0] === pids[1], pids[2] === pids[3]]).toEqual([2, true, true])
    const notice = await dev.waitFor((event) => event.type === 'server' && event.server.notice)
    expect(notice).toMatch(/^2 processes serve the module in turns, and tasks\(\) keeps tasks in the memory/)
    const { remedy } = await dev.ended(await dev.call('build'))
    expect(remedy).toContain('The task is in the memory of another process')
  })

  test.each([
    ['without the token', {}, 401],
    ['with the token, from another origin', { origin: 'https://example.com' }, 403],
  ])('takes no command %s', async (_, headers, status) => {
    const { port, token } = dev.dev
    const all = { ...('origin' in headers && { authorization: `Bearer ${token}` }), ...headers }
    const response = await fetch(`http://127.0.0.1:${port}/api/restart`, { method: 'POST', headers: all })
    expect(response.status).toBe(status)
  })

  test('has its state opened with the key of the run', async () => {
    const { seq } = dev
    const id = await dev.call('resolve', { id: 9 })
    await dev.question(seq)
    const [, asked] = dev.messages(id)
    const { result } = JSON.parse(asked?.text ?? '')
    const report = await dev.post('state', { token: result.requestState })
    expect(report).toMatchObject({ round: 1, questions: [{ key: 'how' }] })
    await dev.post('stop', { id })
  })

  test('is asked as a host without questions', async () => {
    const { seq } = dev
    await dev.post('client', { host: 'opencode' })
    await dev.ready(seq)
    const call = await dev.ended(await dev.call('resolve', { id: 10 }))
    expect(JSON.stringify(call)).toContain('elicitation.form')
    const again = dev.seq
    await dev.post('client', { revision: 'probe' })
    await dev.ready(again)
  })

  test('is examined by the doctor, past the record of messages', async () => {
    const { seq } = dev
    await dev.post('doctor')
    // This check sends 20 MB.
    const isSize = ({ id }: { readonly id: string }): boolean => id === 'size'
    const isChecked = (event: StampedEvent) =>
      event.type === 'doctor' && event.doctor.findings.some(isSize) && event.doctor
    const { findings } = await dev.waitFor(isChecked, seq)
    expect(findings.filter(({ status }) => status === 'wrong')).toEqual([])
    const sizes = dev.events.map((event) => (event.type === 'message' ? event.message.bytes : 0))
    expect(Math.max(...sizes)).toBeLessThan(100_000)
  })

  test('is repeated by the copied test and the copied command', async () => {
    const { seq } = dev
    const id = await dev.call('resolve', { id: 11 })
    const question = await dev.question(seq)
    await dev.post('answer', { id: question.id, action: 'accept', content: { how: "It's fixed" } })
    const call = await dev.ended(id)
    const messages = dev.messages(id)
    const last = messages.findLast(({ direction }) => direction === 'sent')
    expect(await runShell((last && toCurl(last)) ?? '')).toContain("#11 is It's fixed")
    const copied = toTest({ call, messages, module: '../src/testing/dev-program.ts' })
    await runCopiedTest(copied ?? '')
  })

  test('keeps serving when one process is killed, and starts another one', async () => {
    const { seq } = dev
    const before = dev.pids
    await dev.post('fault', { kind: 'kill' })
    expect(await dev.ended(await dev.call('put', { id: 1 }))).toMatchObject({ status: 'done' })
    const after = await dev.waitFor(
      (event) => event.type === 'server' && event.server.pids.length === 2 && event.server.pids,
      seq,
    )
    expect(after.filter((pid) => before.includes(pid))).toHaveLength(1)
  })
})

test('another user at a URL cannot answer the question of the first', async () => {
  const http = await serveWho()
  const dev = await DevDriver.start({
    target: http.url,
    http: { headers: { authorization: 'Bearer ada' } },
    otherToken: 'bob',
  })
  await dev.ready()
  await dev.post('fault', { kind: 'user', at: 'answer' })
  const id = await dev.call('ask')
  await dev.post('answer', { id: (await dev.question()).id, action: 'accept', content: { how: 'Fixed' } })
  expect(await dev.ended(id)).toMatchObject({
    status: 'failed',
    lesson: expect.stringContaining('The server rejected the state of another user'),
  })
  expect(JSON.stringify(dev.messages(id))).not.toContain('Bearer')
  await dev.close()
  await http.close()
})

test('the page can act as the hosts of docs/hosts.json', () => {
  const agents = hosts.filter(({ kind, host }) => kind === 'agent' || host === 'Inspector CLI')
  expect(hostNames).toEqual(agents.map(({ host, revision }) => ({ host, revision })))
})

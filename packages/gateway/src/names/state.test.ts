import { type LogRecord, runtimeOf } from '@x/core'
import { type Call, createCall, type Principal } from '@x/exchange'
import type { RpcRequest } from '@x/schema'
import { memoryStore, randomKey, sealedState, singleUseState, StateError } from '@x/state-codec'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import vectors from './state.vectors.json' with { type: 'json' }
import { GatewayState } from './state.ts'

const deps = { log: () => {}, runtime: runtimeOf(undefined) }
const state = new GatewayState(sealedState({ keys: [vectors.key], runtime: { now: () => vectors.now } }), deps)
const ada = createCall({ principal: { issuer: 'https://id.example', subject: 'ada' } })
const callOf = (principal: Principal | undefined): Call => createCall({ principal })
const request: RpcRequest = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'crm__add', arguments: {} } }
const badState = { code: -32602, message: 'Invalid or expired requestState' }
const tagged = { tag: { upstream: 'crm' }, state: 'the state of the upstream' }

test('every instance with the keys opens a state of another instance [GWY-008]', async () => {
  const opened = await state.openState(vectors.state, request, ada)
  expect(opened).toEqual({ tag: { upstream: 'crm', misses: 0 }, state: tagged.state })
  expect(await state.openCursor(vectors.cursor, 'tools/list', ada)).toEqual({ upstream: 'crm', cursor: '2' })
  expect(await state.openTaskId(vectors.taskId, ada)).toEqual({ upstream: 'crm', taskId: 'task-1' })
})

test('with a codec whose tokens open once, cursors and ids of tasks still open often, and a state once', async () => {
  const single = new GatewayState(singleUseState(sealedState({ keys: [vectors.key] }), memoryStore()), deps)
  const cursor = await single.sealCursor({ upstream: 'crm', cursor: '2' }, 'tools/list', ada)
  const taskId = await single.sealTaskId('crm', 'task-1', ada)
  const sealed = await single.sealState(tagged, request, ada)
  for (let use = 0; use < 2; use += 1) {
    expect(await single.openCursor(cursor, 'tools/list', ada)).toEqual({ upstream: 'crm', cursor: '2' })
    expect(await single.openTaskId(taskId, ada)).toEqual({ upstream: 'crm', taskId: 'task-1' })
  }
  await single.openState(sealed, request, ada)
  await expect(single.openState(sealed, request, ada)).rejects.toMatchObject(badState)
})

test('a tag does not seal the state again: its length does not depend on the length of the state', async () => {
  const lengthOf = async (length: number) =>
    (await state.sealState({ ...tagged, state: 'x'.repeat(length) }, request, ada)).length - length
  expect(await lengthOf(24_000)).toBe(await lengthOf(10))
  expect(await lengthOf(10)).toBeLessThan(200)
})

test('the answers of a host travel in the tag to the instance that has the call', async () => {
  const answers = { q: { action: 'accept' } }
  const tag = { upstream: 'crm', instance: 'a', answers, misses: 3 }
  const sealed = await state.sealState({ tag, state: 'inner' }, request, ada)
  expect(await state.openState(sealed, request, ada)).toEqual({ tag, state: 'inner' })
})

describe('a state belongs to its caller and its request, and all others receive the same error [GWY-004]', () => {
  const other = (params: object): RpcRequest => ({ ...request, params: { ...request.params, ...params } })
  test.each<[string, RpcRequest, Call]>([
    ['another principal', request, callOf({ issuer: 'https://id.example', subject: 'grace' })],
    ['the same subject of another issuer', request, callOf({ issuer: 'https://other.example', subject: 'ada' })],
    ['another client of the principal', request, callOf({ ...ada.principal, subject: 'ada', client: 'x' })],
    ['no principal', request, callOf(undefined)],
    ['another tool', other({ name: 'files__add' }), ada],
    ['other arguments', other({ arguments: { a: 1 } }), ada],
    ['another method', { ...request, method: 'prompts/get' }, ada],
  ])('%s', async (_, again, call) => {
    const sealed = await state.sealState(tagged, request, ada)
    await expect(state.openState(sealed, again, call)).rejects.toMatchObject(badState)
  })

  test('altered at any place', async () => {
    const sealed = await state.sealState(tagged, request, ada)
    const edits = fc.record({ at: fc.nat(sealed.length - 1), by: fc.stringMatching(/^.?$/) })
    await fc.assert(
      fc.asyncProperty(edits, async ({ at, by }) => {
        const altered = sealed.slice(0, at) + by + sealed.slice(at + 1)
        if (altered !== sealed) await expect(state.openState(altered, request, ada)).rejects.toMatchObject(badState)
      }),
    )
  })

  test.each(['', '1', '.', '0.', '5.abc', '-1.abc', '99999999999999.abc', '1e3.abc', 7, null])('%j', async (value) => {
    await expect(state.openState(value, request, ada)).rejects.toMatchObject(badState)
  })

  test('expired', async () => {
    const later = sealedState({ keys: [vectors.key], runtime: { now: () => vectors.now + 3_600_001 } })
    await expect(new GatewayState(later, deps).openState(vectors.state, request, ada)).rejects.toMatchObject(badState)
  })
})

test('why a state, a cursor or an id of a task is rejected is only in the log', async () => {
  const records: LogRecord[] = []
  const other = new GatewayState(sealedState({ keys: [randomKey()] }), { ...deps, log: (each) => records.push(each) })
  await expect(other.openState(vectors.state, request, ada)).rejects.toMatchObject(badState)
  await expect(other.openCursor(vectors.cursor, 'tools/list', ada)).rejects.toThrow('cursor')
  await expect(other.openTaskId(vectors.taskId, ada)).rejects.toThrow('Unknown task')
  const why = { level: 'error', principal: 'ada', message: expect.stringContaining('No key has the id') }
  const unknownKey = { ...why, err: { code: 'unknown_key' } }
  expect(records).toMatchObject([
    { ...unknownKey, method: 'tools/call', requestId: 1 },
    { ...unknownKey, method: 'tools/list' },
    { ...unknownKey, method: 'tasks/get' },
  ])
})

test('while the store of the state is unreachable, the log has one error', async () => {
  const records: LogRecord[] = []
  const away = new StateError('unavailable', 'The store does not answer')
  const codec = {
    ...sealedState({ keys: [vectors.key] }),
    seal: () => Promise.reject(away),
    open: () => Promise.reject(away),
  }
  const gatewayState = new GatewayState(codec, { ...deps, log: (each) => records.push(each) })
  await expect(gatewayState.sealState(tagged, request, ada)).rejects.toMatchObject({ data: { begun: true } })
  await expect(gatewayState.openState(vectors.state, request, ada)).rejects.toMatchObject({ data: { begun: false } })
  expect(records.filter(({ level }) => level === 'error')).toMatchObject([
    { message: expect.stringContaining(away.message) },
  ])
})

describe('cursors and ids of tasks belong to their caller and are not interchangeable [GWY-004]', () => {
  const grace = callOf({ issuer: 'https://id.example', subject: 'grace' })
  test('cursors', async () => {
    const error = { code: -32602, message: 'Invalid or expired cursor' }
    const cursor = await state.sealCursor({ upstream: 'crm', cursor: undefined }, 'tools/list', ada)
    expect(await state.openCursor(cursor, 'tools/list', ada)).toEqual({ upstream: 'crm', cursor: undefined })
    await expect(state.openCursor(cursor, 'tools/list', grace)).rejects.toMatchObject(error)
    await expect(state.openCursor(cursor, 'prompts/list', ada)).rejects.toMatchObject(error)
    await expect(state.openCursor(vectors.taskId, 'tools/list', ada)).rejects.toMatchObject(error)
  })

  test('ids of tasks', async () => {
    const error = { code: -32602, message: 'Unknown task' }
    const taskId = await state.sealTaskId('crm', 'task-1', ada)
    expect(await state.openTaskId(taskId, ada)).toEqual({ upstream: 'crm', taskId: 'task-1' })
    await expect(state.openTaskId(taskId, grace)).rejects.toMatchObject(error)
    await expect(state.openTaskId('task-1', ada)).rejects.toMatchObject(error)
    await expect(state.openTaskId(vectors.cursor, ada)).rejects.toMatchObject(error)
  })
})

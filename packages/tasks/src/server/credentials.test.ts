import { errorCodes, type JsonObject } from '@x/schema'
import { sealedState, tool } from '@x/server'
import { expect, test } from 'vitest'
import { createFleet, textOf } from '../testing/fleet.ts'

const keys = ['6f0e6d2f5bb4a8fd1d1a6b07a9a3b6c4a1bd0c9d8e7f60514233241506f7e8d9']
const otherKeys = [keys[0]?.replace('6f', '7f') ?? '']
const principal = {
  subject: 'ada',
  issuer: 'https://a.example',
  client: 'host',
  scopes: ['work'],
  expiresAt: 1,
  claims: { token: 'topsecret' },
}
const whoAmI = tool('who', {
  description: 'Names the caller',
  task: 'required',
  run: (_, ctx) => JSON.stringify(ctx.principal ?? null),
})

/** A fleet that records the payloads that its engine stores. */
function watched() {
  const payloads: JsonObject[] = []
  const fleet = createFleet((engine) => ({
    ...engine,
    create: (task) => {
      payloads.push(task.payload)
      return engine.create(task)
    },
  }))
  return { fleet, payloads }
}

const as = (instance: ReturnType<ReturnType<typeof createFleet>['add']>, taskId: string) =>
  instance.see(taskId, { principal })

test.each([
  ['has no codec', {}, { state: false }],
  ['has a codec whose tokens end before the task', { ttlMs: 2 * 86_400_000 }, {}],
] as const)(
  'the identity of the caller is stored with a task, and its claims are not if the server %s',
  async (...row) => {
    const [, options, definition] = row
    const { fleet, payloads } = watched()
    const instance = fleet.add([whoAmI], options, definition)
    const taskId = await instance.start('who', {}, { principal })
    while (instance.server.tasks.running > 0) await new Promise(setImmediate)
    const { result } = await as(instance, taskId)
    const { claims: _claims, expiresAt: _expiresAt, ...named } = principal
    expect(JSON.parse(String(textOf(result)))).toEqual(named)
    expect(JSON.stringify(payloads)).not.toContain('topsecret')
  },
)

test.each([
  ['tasks()', { state: sealedState({ keys }) }],
  ['the server', {}],
])('with the codec of %s the claims are stored sealed, and the handler receives them', async (_title, options) => {
  const { fleet, payloads } = watched()
  const instance = fleet.add([whoAmI], options)
  const taskId = await instance.start('who', {}, { principal })
  while (instance.server.tasks.running > 0) await new Promise(setImmediate)
  const { result } = await as(instance, taskId)
  expect(JSON.parse(String(textOf(result)))).toMatchObject({ subject: 'ada', claims: { token: 'topsecret' } })
  expect(JSON.stringify(payloads)).not.toContain('topsecret')
})

test.each([
  ['has other keys', { state: sealedState({ keys: otherKeys }) }, {}],
  ['has no keys', {}, { state: false }],
] as const)(
  'a task waits for an instance that opens its credentials, if one that claims it %s',
  async (_title, options, definition) => {
    const { fleet } = watched()
    const accepting = fleet.add([whoAmI], { state: sealedState({ keys }), runWorker: false })
    const taskId = await accepting.start('who', {}, { principal })
    const wrong = fleet.add([whoAmI], options, definition)
    while (wrong.errors.length === 0 || wrong.server.tasks.running > 0) await new Promise(setImmediate)
    expect(wrong.errors.map(String)).toEqual([
      'Error: A task is requeued for other instances, because this one does not know the keys that open what the task has stored of its caller',
    ])
    expect((await as(accepting, taskId)).status).toBe('working')
    await wrong.server.close()
    fleet.pass(1000)
    const right = fleet.add([whoAmI], { state: sealedState({ keys }) })
    while (right.server.tasks.running > 0 || (await as(right, taskId)).status === 'working')
      await new Promise(setImmediate)
    expect(textOf((await as(right, taskId)).result)).toContain('topsecret')
  },
)

test('a task whose credentials have expired fails, because no instance can open them', async () => {
  const { fleet } = watched()
  let now = Date.UTC(2026, 6, 28)
  const state = sealedState({ keys, runtime: { now: () => now } })
  const accepting = fleet.add([whoAmI], { state, ttlMs: 1000, runWorker: false })
  const taskId = await accepting.start('who', {}, { principal })
  now += 1001
  const worker = fleet.add([whoAmI], { state })
  while (worker.errors.length === 0 || worker.server.tasks.running > 0) await new Promise(setImmediate)
  expect(await as(worker, taskId)).toMatchObject({
    status: 'failed',
    error: { code: errorCodes.internal, message: 'Internal error' },
  })
})

test('sealed credentials of a task do not open for another task', async () => {
  const { fleet, payloads } = watched()
  const accepting = fleet.add([whoAmI], { state: sealedState({ keys }), runWorker: false })
  await accepting.start('who', {}, { principal })
  const [stolen] = payloads
  const thief = createFleet((engine) => ({
    ...engine,
    create: (task) => engine.create({ ...task, payload: { ...task.payload, credentials: stolen?.['credentials'] } }),
  })).add([whoAmI], { state: sealedState({ keys }) })
  const taskId = await thief.start('who')
  while (thief.errors.length === 0 || thief.server.tasks.running > 0) await new Promise(setImmediate)
  expect((await thief.see(taskId)).status).toBe('working')
})

test('a caller without a principal has none in the task', async () => {
  const instance = createFleet().add([whoAmI])
  expect(textOf((await instance.reach(await instance.start('who'), 'completed')).result)).toBe('null')
})

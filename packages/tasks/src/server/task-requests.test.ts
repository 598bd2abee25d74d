import { errorCodes } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { accept, tasksClientCapabilities, createFleet, plain } from '../testing/fleet.ts'
import { tools } from '../testing/tools.ts'

const answers = { inputResponses: {} }

describe.each([['tasks/get'], ['tasks/update'], ['tasks/cancel']])('%s', (method) => {
  test('needs the extension with every request [TSK-053 TSK-060]', async () => {
    const { start, error } = createFleet().add(tools)
    const params = { taskId: await start('ask'), ...answers }
    expect(await error(method, params, { capabilities: { ...plain, tasks: {} } as object })).toMatchObject({
      code: errorCodes.missingRequiredClientCapability,
      data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
    })
  })

  test.each<[string, object, string]>([
    [
      'an unknown id',
      { taskId: 'nobody' },
      'Task "nobody" is not found: it has expired, or it is not a task of this caller',
    ],
    ['none', {}, 'params.taskId must be a string, got nothing'],
    ['an id that is not a text', { taskId: 7 }, 'params.taskId must be a string, got number'],
  ])('rejects %s with the reason [TSK-036 TSK-042 TSK-050 TSK-051 TSK-054]', async (_title, params, message) => {
    const { error } = createFleet().add(tools)
    expect(await error(method, { ...params, ...answers })).toEqual({ code: errorCodes.invalidParams, message })
  })

  test('returns the same error for a task of another owner and for an unknown task [TSK-069]', async () => {
    const { start, error, see } = createFleet().add(tools)
    const principal = { subject: 'ada', issuer: 'https://a.example', client: 'one' }
    const taskId = await start('ask', {}, { principal })
    const others = [{ ...principal, subject: 'eve' }, { ...principal, issuer: 'https://b.example' }, { subject: 'ada' }]
    const refusals = [await error(method, { taskId, ...answers })]
    for (const other of others) refusals.push(await error(method, { taskId, ...answers }, { principal: other }))
    const { message, code } = await error(method, { taskId: 'nobody', ...answers }, { principal })
    expect(refusals).toEqual(Array.from(refusals, () => ({ code, message: message.replace('nobody', taskId) })))
    expect((await see(taskId, { principal: { ...principal, scopes: ['more'] } })).taskId).toBe(taskId)
  })

  test('returns the same error for an expired task and for an unknown task', async () => {
    const fleet = createFleet()
    const { start, reach, error } = fleet.add(tools, { ttlMs: 60_000 })
    const taskId = await start('ask')
    await reach(taskId, 'input_required')
    fleet.pass(59_999)
    await reach(taskId, 'input_required')
    fleet.pass(1)
    expect((await error(method, { taskId, ...answers })).code).toBe(errorCodes.invalidParams)
  })

  test.each<[string, string | undefined, boolean]>([
    ['the same', undefined, true],
    ['the id in Base64', 'base64', true],
    ['another', 'other', false],
    ['none', '', false],
    ['invalid Base64', '=?base64?!?=', false],
  ])('responds to an Mcp-Name that is %s with %s %s [TSK-049]', async (_title, given, fits) => {
    const { start, ask } = createFleet().add(tools)
    const taskId = await start('ask')
    const encoded = `=?base64?${btoa(taskId)}?=`
    const header = given === undefined ? taskId : given === 'base64' ? encoded : given === '' ? undefined : given
    const get = (name: string) => (name.toLowerCase() === 'mcp-name' ? header : undefined)
    const response = await ask(method, { taskId, ...answers }, { headers: { get, forEach() {} } })
    if (fits) expect(response).toHaveProperty('result')
    else expect(response).toMatchObject({ error: { code: errorCodes.headerMismatch } })
  })

  test('returns an error that permits a retry, without the cause, while the engine is unreachable [TSK-052 UNA-001 UNA-002]', async () => {
    const away = () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7'))
    const fleet = createFleet((engine) => ({ ...engine, get: away, cancel: away, answer: away }))
    const { error, errors } = fleet.add(tools)
    const answer = await error(method, { taskId: 'a', ...answers })
    expect(answer).toMatchObject({
      code: errorCodes.internal,
      data: { reason: 'unavailable', begun: false, retryAfterMs: 1000 },
    })
    expect(JSON.stringify(answer)).not.toContain('10.0.0.7')
    expect(errors).toEqual([new Error('connect ECONNREFUSED 10.0.0.7')])
  })

  test('is not served in an earlier revision [TSK-059]', async () => {
    const { error } = createFleet().add(tools)
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2025-11-25' }
    expect(await error(method, { taskId: 'a', ...answers }, { meta })).toMatchObject({
      code: errorCodes.unsupportedProtocolVersion,
      data: { requested: '2025-11-25', supported: ['2026-07-28'] },
    })
  })
})

test.each([['tasks/result'], ['tasks/list'], ['tasks/input_response']])(
  '%s is an unknown method [TSK-062 TSK-063]',
  async (method) => {
    const { start, error } = createFleet().add(tools)
    const taskId = await start('ask')
    expect((await error(method, { taskId, ...answers }, { capabilities: tasksClientCapabilities })).code).toBe(
      errorCodes.methodNotFound,
    )
  },
)

test('a task is stored for its whole lifetime after its last change of status [TSK-027]', async () => {
  const fleet = createFleet()
  const { start, reach, result, see, error } = fleet.add(tools, { ttlMs: 60_000 })
  const taskId = await start('ask')
  fleet.pass(0)
  expect((await reach(taskId, 'input_required')).ttlMs).toBe(60_000)
  fleet.pass(50_000)
  await result('tasks/update', {
    taskId,
    inputResponses: { one: accept({ name: 'Ada' }), two: accept({ name: 'Grace' }) },
  })
  expect((await reach(taskId, 'completed')).ttlMs).toBe(110_000)
  fleet.pass(59_999)
  expect((await see(taskId)).status).toBe('completed')
  fleet.pass(1)
  expect((await error('tasks/get', { taskId })).code).toBe(errorCodes.invalidParams)
})

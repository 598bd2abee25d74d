import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { createServer } from '@x/server'
import { killAtEveryStep, type ServerKit, testClient, testRuntime } from '@x/testing'
import { checkRecordedStates } from '@x/testing/node'
import { bugs, definition } from './definition.ts'

// #region factory
const createTracker = (kit: ServerKit) => createServer({ ...definition, ...kit })
// #endregion factory

beforeEach(() => bugs.clear())

// #region answers
test('a bug is resolved as its user says', async () => {
  await using client = testClient(createTracker, { answers: { resolution: { resolution: 'Fixed' } } })
  const { content } = await client.callTool('resolve_bug', { id: 1 })
  assert.deepEqual(content, [{ type: 'text', text: '#1 is Fixed' }])
})

test('nothing is saved when the user declines', async () => {
  await using client = testClient(createTracker, { answers: { resolution: 'decline' } })
  const { isError } = await client.callTool('resolve_bug', { id: 1 })
  assert.deepEqual([isError, bugs.size], [true, 0])
})
// #endregion answers

// #region observed
test('the user is asked once, and another instance saves the answer', async () => {
  const answers = { resolution: { resolution: 'Fixed' } }
  await using client = testClient(createTracker, { answers, restartBetweenRounds: true })
  await client.callTool('resolve_bug', { id: 1 })
  const call = { method: 'tools/call', target: 'resolve_bug' }
  assert.deepEqual(client.observations.rounds, [
    { ...call, instance: 0, status: 'input_required', questions: { resolution: 'It is New. How was it resolved?' } },
    { ...call, instance: 1, status: 'complete', questions: {} },
  ])
  assert.deepEqual(client.observations.logs, [{ target: 'resolve_bug', level: 'info', data: 'Resolved #1' }])
})
// #endregion observed

// #region kill
test('a bug is resolved the same, wherever its handler is stopped', async () => {
  const { stoppedSteps } = await killAtEveryStep(createTracker, {
    beforeEachRun: () => bugs.clear(),
    answers: { resolution: { resolution: 'Fixed' } },
    call: async (client) => [await client.callTool('resolve_bug', { id: 1 }), [...bugs]],
  })
  assert.deepEqual(
    stoppedSteps.map(({ recordedKeys }) => recordedKeys),
    [['read'], ['read', 'save']],
  )
})
// #endregion kill

// #region time
test('a question can be answered for an hour', async () => {
  const runtime = testRuntime()
  await using client = testClient(createTracker, { runtime })
  const round = await client.manualRounds.callTool('resolve_bug', { id: 1 })
  assert(round.status === 'input_required')
  await runtime.advance(61 * 60_000)
  const late = round.resume({ resolution: { action: 'accept', content: { resolution: 'Fixed' } } })
  await assert.rejects(late, /Invalid or expired requestState/)
})
// #endregion time

// #region states
test('the calls of version 1.0.0 are continued', async () => {
  const [check] = await checkRecordedStates(createTracker, {
    folder: new URL('./states', import.meta.url),
    record: process.env['CI'] === undefined ? 'missing' : 'none',
    calls: {
      resolve: { tool: 'resolve_bug', arguments: { id: 1 }, answers: { resolution: { resolution: 'Fixed' } } },
    },
  })
  assert.deepEqual(check?.states, [{ round: 1, askedKeys: [], changeDescription: undefined }])
})
// #endregion states

import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { createServer } from '@x/server'
import { stopAtEveryStep, type ServerKit, testClient, testRuntime } from '@x/testing'
import { checkRecordedStates } from '@x/testing/node'
import { bugs, definition } from './definition.ts'

// #region factory
const createTracker = (kit: ServerKit) => createServer({ ...definition, ...kit })

beforeEach(() => bugs.clear())
// #endregion factory

// #region answers
test('a bug gets the resolution that the user chooses', async () => {
  await using client = testClient(createTracker, { answers: { how: { resolution: 'Fixed' } } })
  const { content } = await client.callTool('resolve_bug', { id: 1 })
  assert.deepEqual(content, [{ type: 'text', text: '#1 is Fixed' }])
})

test('nothing is saved when the user declines', async () => {
  await using client = testClient(createTracker, { answers: { how: 'decline' } })
  const { isError } = await client.callTool('resolve_bug', { id: 1 })
  assert.deepEqual([isError, bugs.size], [true, 0])
})
// #endregion answers

// #region observed
test('the user is asked once, and another instance saves the answer', async () => {
  const answers = { how: { resolution: 'Fixed' } }
  await using client = testClient(createTracker, { answers, restartBetweenRounds: true })
  await client.callTool('resolve_bug', { id: 1 })
  const call = { method: 'tools/call', target: 'resolve_bug' }
  assert.deepEqual(client.observations.rounds, [
    { ...call, instance: 0, status: 'input_required', questions: { how: 'It is New. How was it resolved?' } },
    { ...call, instance: 1, status: 'complete', questions: {} },
  ])
  assert.deepEqual(client.observations.logs, [{ target: 'resolve_bug', level: 'info', data: 'Resolved #1' }])
})
// #endregion observed

// #region stop
test('a bug is resolved the same, wherever its handler is stopped', async () => {
  const { stoppedSteps } = await stopAtEveryStep(createTracker, {
    reset: () => bugs.clear(),
    answers: { how: { resolution: 'Fixed' } },
    call: async (client) => [await client.callTool('resolve_bug', { id: 1 }), [...bugs]],
  })
  assert.deepEqual(
    stoppedSteps.map(({ recordedKeys }) => recordedKeys),
    [['read'], ['read', 'save']],
  )
})
// #endregion stop

// #region time
test('an answer after an hour is rejected', async () => {
  const runtime = testRuntime()
  await using client = testClient(createTracker, { runtime })
  const round = await client.manualRounds.callTool('resolve_bug', { id: 1 })
  assert(round.status === 'input_required')
  await runtime.advance(61 * 60_000)
  const late = round.resume({ how: { action: 'accept', content: { resolution: 'Fixed' } } })
  await assert.rejects(late, /Invalid or expired requestState/)
})
// #endregion time

// #region states
test('the calls of version 1.0.0 are continued', async () => {
  const [check] = await checkRecordedStates(createTracker, {
    folder: new URL('./states', import.meta.url),
    record: process.env['CI'] === undefined ? 'missing' : 'none',
    calls: {
      resolve: { tool: 'resolve_bug', arguments: { id: 1 }, answers: { how: { resolution: 'Fixed' } } },
    },
  })
  // The first run only records the states, so that this list is empty.
  for (const { changeDescription } of check?.states ?? []) assert.equal(changeDescription, undefined)
})
// #endregion states

import { createServer, type SheddingOptions } from '@x/server'
import { sheddingSettings } from '@x/server/internals'
import { killAtEveryStep, type ServerKit, testClient } from '@x/testing'
import { expect, test } from 'vitest'
import type { InstanceMessage } from '../instance/instance-message.ts'
import { isExpectedResult, light } from './job.ts'
import { callKey, countPrimes } from './prime-tool.ts'

/** Instances of which another one answers each round, and what they reported. */
function openFleet(shedding: false | SheddingOptions) {
  const reported: { readonly instance: number; readonly message: InstanceMessage }[] = []
  let instances = 0
  const createInstance = (kit: ServerKit) => {
    const instance = instances++
    const tools = [countPrimes((message) => reported.push({ instance, message }))]
    return createServer({ name: 'primes', version: '1.0.0', tools, ...kit, strictReplay: false })
  }
  return { client: testClient(createInstance, { shedding, restartBetweenRounds: true, cache: false }), reported }
}

/** Sheds each call so often, at its first chances. */
const shedTimes = (times: number): SheddingOptions =>
  sheddingSettings({ calls: 'all', minWorkMs: 0, policy: (_, { shedCount }) => shedCount < times })

const meta = { [callKey]: 'call-1' }

test('a call that is shed five times gives the same bytes as one that never moved', async () => {
  const moving = openFleet(shedTimes(5))
  const still = openFleet(false)
  const moved = await moving.client.callTool('count_primes', { limit: light.limit }, { meta })
  const stayed = await still.client.callTool('count_primes', { limit: light.limit }, { meta })
  expect(JSON.stringify(moved)).toBe(JSON.stringify(stayed))
  expect(isExpectedResult(light, moved.structuredContent)).toBe(true)

  const begins = moving.reported.filter(({ message }) => message.kind === 'begin')
  expect(begins.map(({ instance }) => instance)).toEqual([0, 1, 2, 3, 4, 5])
  const chunksOf = (reported: typeof moving.reported) =>
    reported.flatMap(({ message }) => (message.kind === 'work' ? [message.from] : []))
  expect(chunksOf(moving.reported)).toEqual(chunksOf(still.reported))
  const ends = moving.reported.filter(({ message }) => message.kind === 'end')
  expect(ends.map(({ message }) => message)).toEqual(ends.map(() => ({ kind: 'end', call: 'call-1' })))
  expect(ends).toHaveLength(begins.length)
})

test('a call gives the same result, after whichever chunk its instance stops', async () => {
  const createInstance = (kit: ServerKit) =>
    createServer({ name: 'primes', version: '1.0.0', tools: [countPrimes(() => {})], ...kit })
  const { stoppedSteps } = await killAtEveryStep(createInstance, {
    call: (client) => client.callTool('count_primes', { limit: 200_000 }, { meta }),
  })
  expect(stoppedSteps.length).toBeGreaterThan(1)
})

test('a call without a name is given one that it keeps', async () => {
  const { client, reported } = openFleet(shedTimes(1))
  await client.callTool('count_primes', { limit: 200_000 }, { meta: { [callKey]: 'x'.repeat(65) } })
  const names = new Set(reported.flatMap(({ message }) => ('call' in message ? [message.call] : [])))
  expect([...names]).toEqual([expect.stringMatching(/^[\da-f-]{36}$/)])
})

test.each([1, 50_000_001, 2.5])('the limit %d is refused before anything is counted', async (limit) => {
  const { client, reported } = openFleet(false)
  expect(await client.callTool('count_primes', { limit })).toMatchObject({ isError: true })
  expect(reported).toEqual([])
})

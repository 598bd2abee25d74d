import { createGate } from '@tooling/vitest/gate'
import { expect, test, vi } from 'vitest'
import { createToolCall } from '../../testing/asking.ts'
import { createLinkedServers } from '../../testing/linked-fleet.ts'

/** Holds every digest, and so the id of each new stream. */
function holdDigests() {
  const begun = createGate()
  const released = createGate()
  const digest = crypto.subtle.digest.bind(crypto.subtle)
  vi.spyOn(crypto.subtle, 'digest').mockImplementation(async (algorithm, data) => {
    begun.open()
    await released.opened
    return digest(algorithm, data)
  })
  return { begun: begun.opened, release: () => released.open() }
}

test.each([
  ['at the instance of the call', 0],
  ['at another instance', 1],
])('DELETE %s ends a call whose stream has no id yet [LEG-047]', async (_, place) => {
  const fleet = createLinkedServers()
  fleet.getInstance(0)
  await fleet.client.initialize()
  const digests = holdDigests()
  const call = fleet.client.post(createToolCall('slow', {}))
  await digests.begun
  fleet.getInstance(place)
  expect((await fleet.client.end()).status).toBe(204)
  digests.release()
  expect((await call).json).toBeUndefined()
})

import { createGate } from '@tooling/vitest/gate'
import { expect, test } from 'vitest'
import { createToolCall } from '../../testing/asking.ts'
import { createLinkedServers } from '../../testing/linked-fleet.ts'

test.each([
  ['at the instance of the call', 0],
  ['at another instance', 1],
])('DELETE %s ends a call whose session was read before it [LEG-047]', async (_, place) => {
  const fleet = createLinkedServers()
  fleet.getInstance(0)
  await fleet.client.initialize()
  const [begun, released] = [createGate(), createGate()]
  fleet.store.afterRead = () => {
    begun.open()
    return released.opened
  }
  const call = fleet.client.post(createToolCall('slow', {}))
  await begun.opened
  fleet.store.afterRead = async () => {}
  fleet.getInstance(place)
  expect((await fleet.client.end()).status).toBe(204)
  released.open()
  expect((await call).json).toBeUndefined()
})

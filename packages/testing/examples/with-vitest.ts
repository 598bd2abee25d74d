import { createServer, resource } from '@x/server'
import { testClient } from '@x/testing'
import { expect, test } from 'vitest'

test('subscribers are notified of a change', async () => {
  const rate = resource('rates://eur', { name: 'Rate', read: () => '1.08' })
  await using client = testClient((kit) => createServer({ name: 'rates', version: '1.0.0', resources: [rate], ...kit }))
  await using changes = client.listen({ resourceSubscriptions: ['rates://eur'] })
  // Wait until the subscription is open.
  await changes[Symbol.asyncIterator]().next()
  await client.instances[0]?.notifyResourceUpdated('rates://eur')
  expect(await client.waitForChanges(1)).toEqual([{ change: 'resources/updated', uri: 'rates://eur' }])
})

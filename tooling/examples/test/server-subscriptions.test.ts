import { testClient } from '@x/testing'
import { expect, test } from 'vitest'
import { diary } from '../src/server-subscriptions.ts'

test('a subscriber of the diary is notified of its entry, and of a changed list of tools', async () => {
  await using client = testClient(diary)
  for await (const event of client.listen({ toolsListChanged: true, resourceSubscriptions: ['diary://monday'] })) {
    if (event.type === 'opened') {
      await client.callTool('write_day', { day: 'tuesday', text: 'Sleep' })
      await client.callTool('write_day', { day: 'monday', text: 'Buy bread' })
    }
    if (event.type === 'resourceUpdated') diary.update({ tools: [] })
    if (event.type === 'toolsListChanged') break
  }
  expect(client.observations.changes).toEqual([
    { change: 'resources/updated', uri: 'diary://monday' },
    { change: 'tools/list_changed' },
  ])
  expect(await client.readResource('diary://monday')).toMatchObject({ contents: [{ text: 'Buy bread' }] })
})

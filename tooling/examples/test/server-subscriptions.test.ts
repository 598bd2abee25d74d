import { createClient } from '@x/client'
import { expect, test } from 'vitest'
import { closeDiary, diary } from '../src/server-subscriptions.ts'

test('who listens to the diary hears what was written, and that nothing can be any more', async () => {
  const client = createClient(diary, { name: 'host', version: '1.0.0' })
  const heard: string[] = []
  for await (const event of client.listen({ toolsListChanged: true, resourceSubscriptions: ['diary://monday'] })) {
    heard.push(event.type)
    if (event.type === 'opened') {
      await client.callTool('write_day', { day: 'tuesday', text: 'Sleep' })
      await client.callTool('write_day', { day: 'monday', text: 'Buy bread' })
    }
    if (event.type === 'resourceUpdated') closeDiary()
    if (event.type === 'toolsListChanged') break
  }
  expect(heard).toEqual(['opened', 'resourceUpdated', 'toolsListChanged'])
  expect(await client.readResource('diary://monday')).toMatchObject({ contents: [{ text: 'Buy bread' }] })
})

import { expect, test } from 'vitest'
import { frameworks } from '../src/frameworks.ts'
import { allPassed, checkServer } from './expected.ts'
import { checkOlderClient } from './older-client.ts'

test.each(Object.keys(frameworks))('a server in %s passes all checks', async (name) => {
  await using server = await frameworks[name]?.()
  expect(await checkServer(server?.url ?? '')).toEqual(allPassed)
  expect(await checkOlderClient(server?.url ?? '', { keepsStreams: true })).toEqual({})
})

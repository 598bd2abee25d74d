import { memoryStore } from '@x/state-codec'
import { expect, test } from 'vitest'
import { LinkStore } from './link-store.ts'

test('a change that outlasted its lock does not remove the lock of the change after it', async () => {
  let time = 0
  const store = memoryStore({ runtime: { now: () => time } })
  const linkStore = new LinkStore(store, {
    answerTimeoutMs: 1000,
    resumeWindowMs: 1000,
    sleep: () => Promise.resolve(),
    onUnavailable: () => {},
  })
  await linkStore.changeSession({ key: 'one', ttlMs: 60_000, owner: 'ada' }, (storedSession) => {
    time += 5000
    void store.add('legacy:lock:one', 'the next change', 5000)
    return storedSession
  })
  expect(await store.get('legacy:lock:one')).toBe('the next change')
})

import { setImmediate as endTurn, setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { replaceGlobals } from './replace-globals.ts'
import { createVirtualTime, type Host } from './virtual-time.ts'

// The real one, which is read before it is replaced.
const { setImmediate: startNextTurn } = globalThis
const setPlatform = replaceGlobals()

const waitForTurns = async (): Promise<void> => {
  await endTurn()
  await endTurn()
}

test.each([
  ['setTimeout', () => pause(1)],
  ['setImmediate', waitForTurns],
])('what waits for %s of node:timers/promises continues in its own process', async (_, wait) => {
  const time = createVirtualTime(() => new Promise((resolve) => void startNextTurn(resolve)))
  setPlatform({ time, random: () => 0, randomForBytes: () => 0 })
  const [waiting, other] = [time.addHost('waiting'), time.addHost('other')]
  let continuedIn: Host | undefined
  time.schedule(waiting, 0, async () => {
    await wait()
    continuedIn = time.currentHost
  })
  for (let ms = 0; ms < 10; ms += 1) time.schedule(other, ms, () => {})
  while (await time.step());
  expect(continuedIn?.name).toBe('waiting')
})

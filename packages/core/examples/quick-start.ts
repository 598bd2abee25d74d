import { computeBackoffMs, memoryBus, platformRuntime, sleep, withTimeout } from '@x/core'

const bus = memoryBus()
const stop = await bus.listen({ onChange: ({ topic }) => console.log(`changed: ${topic}`), onGap: () => {} })

// The signal aborts when the time is over, and the call rejects with the error of `createTimeoutError`.
const clock = platformRuntime
const createTimeoutError = (): Error => new Error('the change took longer than a second')
await withTimeout({ timeoutMs: 1000, clock, createTimeoutError }, async (signal) => {
  await sleep(computeBackoffMs(0, { firstMs: 20, maxMs: 1000 }), { clock, signal })
  await bus.publish({ topic: 'orders' })
})
stop()

import { backoffMs, memoryBus, platformRuntime, sleep } from '@x/core'

const bus = memoryBus()
await bus.listen({ onChange: ({ topic }) => console.log(`changed: ${topic}`), onGap: () => console.log('anything') })
await bus.publish({ topic: 'tools' })

// The pause after the third failure in a row: 400 ms, less a random half.
await sleep(backoffMs(2, { firstMs: 100, maxMs: 5_000 }), { clock: platformRuntime })

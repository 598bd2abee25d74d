import { createClient } from '@redis/client'
import { Pool } from 'pg'
import { postgresBus } from '../../src/postgres.ts'
import { redisBus } from '../../src/redis.ts'
import type { ChangeBus } from '../../src/index.ts'

// Listens, receives one change, stops, and closes its own client. Then does the same over a URL, whose client it does
// not close. After that nothing may keep the process alive.
const [kind, address = ''] = process.argv.slice(2)

async function useBus(bus: ChangeBus): Promise<void> {
  let stop = (): void => {}
  await new Promise<void>((resolve, reject) => {
    const listening = bus.listen({ onChange: () => resolve(), onGap: () => {} })
    const publishing = listening.then((stopNow) => {
      stop = stopNow
      return bus.publish({ topic: 'tools' })
    })
    publishing.catch(reject)
  }).finally(() => stop())
}

async function overRedis(): Promise<void> {
  const client = createClient({ socket: { path: address, tls: false } })
  client.on('error', () => {})
  await client.connect()
  await useBus(redisBus(client))
  client.destroy()
  await useBus(redisBus(`unix://${address}`))
}

async function overPostgres(): Promise<void> {
  const pool = new Pool({ connectionString: address })
  pool.on('error', () => {})
  await useBus(postgresBus(pool)).finally(() => pool.end())
  await useBus(postgresBus(address))
}

await (kind === 'redis' ? overRedis() : overPostgres())

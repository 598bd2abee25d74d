import { PGlite } from '@electric-sql/pglite'
import { postgresBus } from '@x/server/postgres'
import { redisBus } from '@x/server/redis'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { connectRedis, type RealRedis, startRedis, type TestClient } from '@tooling/real-servers/redis'
import { describeNeeding } from '@tooling/vitest/needs'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { memoryEngine } from '../src/engines/memory-engine.ts'
import { pgliteEngine } from '../src/engines/pglite/pglite-engine.ts'
import { postgresEngine } from '../src/engines/postgres/postgres-engine.ts'
import { runTasksOfUsers } from './run-tasks-of-users.ts'

describe('tasks of users never run in the asynchronous context of another request', () => {
  test('in memory [LDG-008]', async () => {
    const engine = memoryEngine()
    await runTasksOfUsers(() => engine)
  })

  test('over PGlite [LDG-008]', async () => {
    const pglite = await PGlite.create()
    await runTasksOfUsers(() => pgliteEngine(pglite))
    await pglite.close()
  })

  describe('over PostgreSQL', () => {
    let database: RealPostgres
    beforeAll(async () => {
      database = await startPostgres()
    })
    afterAll(() => database.close())

    test('with the notifications of its engine [LDG-008]', () => runTasksOfUsers(() => postgresEngine(database.url)))

    test('with a separate bus [LDG-008]', async () => {
      const pool = database.pool()
      const notifications = postgresBus(pool)
      await runTasksOfUsers(() => ({ ...postgresEngine(database.url, { schema: 'other' }), notifications }))
      await pool.end()
    })
  })

  describeNeeding('redis', 'over Redis', (program) => {
    let server: RealRedis
    let client: TestClient
    beforeAll(async () => {
      server = await startRedis(program)
      client = await connectRedis(server.path)
    })
    afterAll(async () => {
      client.destroy()
      await server.close()
    })

    test('as the bus [LDG-008]', async () => {
      const engine = { ...memoryEngine(), notifications: redisBus(client) }
      await runTasksOfUsers(() => engine)
    })
  })
})

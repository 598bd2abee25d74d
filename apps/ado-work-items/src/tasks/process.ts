import { serveParent } from '../fleet/child.ts'
import { openInitialDatabase } from './initial-database.ts'
import { serveDatabase } from './serve-database.ts'

// Runs PostgreSQL in the memory of a process of its own, so that every instance of the server shares it. It requires no
// password, because it stores only the tasks of this run.

const database = await openInitialDatabase()
const served = await serveDatabase(database)
serveParent(served.port, async () => {
  await served.close()
  await database.close()
})

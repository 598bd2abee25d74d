import { PGlite } from '@electric-sql/pglite'
import { serveParent } from '../fleet/child.ts'
import { serveDatabase } from './serve-database.ts'

// A PostgreSQL in the memory of a process of its own, so that every instance of the server shares it. It asks for no
// password, as it has nothing but the tasks of this run.

const database = await PGlite.create()
const served = await serveDatabase(database)
serveParent(served.port, async () => {
  await served.close()
  await database.close()
})

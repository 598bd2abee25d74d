import { startPostgres } from '@tooling/real-servers/postgres'
import { serveParent } from '../fleet/child.ts'

// Runs a PostgreSQL with its data in a temporary folder, which is deleted when the process exits. The process exits
// together with its parent.

const postgres = await startPostgres()
serveParent(Number(new URL(postgres.url).port), () => postgres.close())

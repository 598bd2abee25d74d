import { writeInitialDatabase } from './initial-database.ts'

// The last step of the build, which `npm start` waits for once.
await writeInitialDatabase()

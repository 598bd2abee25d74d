import { httpHandler } from '@x/transport-http'
import { createRuntimeServer } from '../../../src/server.ts'

const handle = httpHandler(createRuntimeServer())

// Clients of revisions before 2026-07-28 also send GET and DELETE.
export { handle as DELETE, handle as GET, handle as POST }

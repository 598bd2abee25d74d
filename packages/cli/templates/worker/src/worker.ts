import { httpHandler } from '@x/transport-http'
import { server } from './server.js'

// Before you deploy, give the handler `allowedHosts` with the names of the Worker, and the server a `state` with a key.
export default { fetch: httpHandler(server) }

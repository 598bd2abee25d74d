import { httpHandler } from '@x/transport-http'
import { server } from './server.js'

// Before you deploy, give the handler `allowedHosts` with the names of the Worker.
export default { fetch: httpHandler(server) }

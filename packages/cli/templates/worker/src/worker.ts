import { httpHandler } from '@x/transport-http'
import { server } from './server.js'

// Replace '*' by the names of the Worker, once it has one.
export default { fetch: httpHandler(server, { allowedHosts: '*' }) }

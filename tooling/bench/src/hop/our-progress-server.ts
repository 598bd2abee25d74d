import { serveOurProxy } from './our-proxy.ts'
import { startUpstream } from './upstream.ts'

serveOurProxy(await startUpstream('stream/our-server.js'))

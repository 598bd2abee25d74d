import { serveOurProxy } from './our-proxy.ts'
import { startUpstream } from './upstream.ts'

serveOurProxy(await startUpstream('http/our-server.js'))

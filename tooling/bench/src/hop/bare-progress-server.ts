import { serveBareProxy } from './bare-proxy.ts'
import { startUpstream } from './upstream.ts'

serveBareProxy(await startUpstream('stream/our-server.js'))

import { serveBareProxy } from '../hop/bare-proxy.ts'
import { startUpstream } from '../hop/upstream.ts'

serveBareProxy(await startUpstream('gateway/echoes-server.js'))

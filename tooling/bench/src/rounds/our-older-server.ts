import { legacy } from '@x/legacy'
import { flowServer } from './flow-server.ts'
import { serveFlow } from './serve-flow.ts'

serveFlow(flowServer({ extensions: [legacy()] }))

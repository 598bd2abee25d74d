// The minimum of an HTTP server.
import { echoAnswer, fixedServer } from './bare-server.ts'
import { serveMeasured } from './serve-measured.ts'

await serveMeasured(fixedServer(echoAnswer))

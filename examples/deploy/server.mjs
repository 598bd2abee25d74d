import { serveHttp } from '@x/transport-http/node'
import { createInstance } from './definition.mjs'
import { readEnvironment } from './environment.mjs'

// A balancer that checks `/readyz` every second notices a stop within three. Running calls then have ten seconds.
const stopOnSignals = { noticeMs: 3_000, graceMs: 10_000 }

let server
try {
  const environment = readEnvironment()
  await environment.database?.prepare()
  server = createInstance(environment)
  const { url } = await serveHttp(server, { ...environment.http, stopOnSignals })
  await server.ready()
  console.log(`Serving ${url}`)
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
  // Open connections to the database would keep the process alive for some seconds.
  await server?.close()
}

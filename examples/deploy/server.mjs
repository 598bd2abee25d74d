import { serveHttp } from '@x/transport-http/node'
import { createInstance } from './definition.mjs'
import { readEnvironment } from './environment.mjs'

// The balancer checks `/readyz` each second. It has noticed a stop after three seconds, and calls then leave within ten.
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
  // Otherwise what it has opened, such as connections of the database, keeps the process alive for some seconds.
  await server?.close()
}

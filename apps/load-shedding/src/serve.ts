import { ConfigurationError, listIn, readVariables, serverVariables } from '@apps/front/environment'
import { serveInstance } from './instance/serve-instance.ts'

// One instance of the server, as a deployment runs it: its environment alone configures it, and SIGTERM stops it.

/** The balancer has noticed a stop after three seconds, and calls then leave within ten. */
const stop = { noticeMs: 3_000, graceMs: 10_000 }

try {
  const {
    PORT,
    HOST,
    ALLOWED_HOSTS,
    STATE_KEYS = '',
  } = readVariables(serverVariables, process.env, {
    required: ['STATE_KEYS'],
  })
  const { url } = await serveInstance({
    port: Number(PORT ?? 4531),
    host: HOST,
    allowedHosts: ALLOWED_HOSTS === undefined ? undefined : listIn(ALLOWED_HOSTS),
    stateKeys: listIn(STATE_KEYS),
    sheds: true,
    stop,
    report: () => {},
  })
  console.log(`Serving ${url}`)
} catch (error) {
  console.error(error instanceof ConfigurationError ? `Cannot start:\n${error.message}` : error)
  process.exitCode = 1
}

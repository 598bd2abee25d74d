import { ConfigurationError, listIn, readVariables, serverVariables } from '@apps/front/environment'
import { serveInstance } from './instance/serve-instance.ts'

// Runs one instance of the server, as in a deployment. Environment variables configure it, and SIGTERM stops it.

/**
 * A balancer detects a stop within three seconds. After that, running calls have ten seconds to end or to be handed
 * off.
 */
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

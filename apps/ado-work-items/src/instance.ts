import type { Log } from '@x/server'
import { type HttpServer, serveHttp } from '@x/transport-http/node'
import { createAzureDevOps } from './azure-devops/create-azure-devops.ts'
import { type Configuration, ConfigurationError, instanceVariables, readConfiguration } from './configuration.ts'
import { addInstanceHeader, signProgress, signResults } from './fleet/instance-meta.ts'
import { createWorkItemsServer, type WorkItemsServer } from './server/create-work-items-server.ts'
import { protectInstance, requireWriteScope } from './authorization/protect-work-items.ts'
import { logError } from './log-error.ts'
import { taskOptions } from './tasks/task-options.ts'

/**
 * The time for calls to finish, and then for tasks, in milliseconds. The sum is less than the time that the parent
 * process allows.
 */
const graceMs = 5_000

// Runs one instance of the server, as in a deployment. The environment alone configures it, and SIGTERM stops it. The
// fleet of "npm start" runs several instances.

await serve().catch((error: unknown) => {
  console.error(error instanceof ConfigurationError ? `Cannot start:\n${error.message}` : error)
  process.exit(1)
})

async function serve(): Promise<void> {
  const configuration = readConfiguration(process.env, instanceVariables)
  const { port, host, allowedHosts, instance: id } = configuration
  const server = createInstance(configuration)
  const http = await serveHttp(server, {
    port,
    host,
    allowedHosts,
    stopOnSignals: { graceMs },
    onRequest: (_, response) => {
      if (id !== undefined) addInstanceHeader({ id, pid: process.pid }, response)
      return false
    },
    auth: await protectInstance(configuration),
  })
  notifyParent(http)
}

function createInstance(configuration: Configuration): WorkItemsServer {
  const { azureDevOps, state, tasksDatabase, authorization, instance } = configuration
  if (azureDevOps === undefined || tasksDatabase === undefined) throw new ConfigurationError('An instance needs more.')
  const log: Log = ({ method = '', name = '', message, err }) => logError(`${method} ${name}`, err ?? message)
  const signature = instance === undefined ? undefined : { id: instance, pid: process.pid }
  return createWorkItemsServer(createAzureDevOps(azureDevOps), {
    state,
    log,
    // On a busy machine, load shedding would hand calls over to other instances in the middle of the walk-through.
    shedding: { load: () => ({ eventLoopDelayMs: 0 }) },
    tasks: taskOptions(tasksDatabase, configuration, log),
    use: signature && [signResults(signature)],
    extensions: [...(signature ? [signProgress(signature)] : []), ...(authorization ? [requireWriteScope()] : [])],
  })
}

/** Sends the port to the parent process, and stops the server when the parent exits. */
function notifyParent({ url, port }: HttpServer): void {
  if (process.send === undefined) return console.log(`Serving ${url}`)
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.send({ port })
  // The IPC channel must not keep the process alive.
  process.channel?.unref()
}

import { type Log, type StateCodec, sealedState } from '@x/server'
import { randomKey } from '@x/state-codec'
import { serveStdio } from '@x/transport-stdio'
import { createAzureDevOps } from './azure-devops/create-azure-devops.ts'
import { readConfiguration } from './configuration.ts'
import { createWorkItemsServer } from './server/create-work-items-server.ts'
import { openService } from './service.ts'
import { taskOptions } from './tasks/task-options.ts'

/**
 * Serves the host that started this process over stdio. Resolves when the host disconnects or `signal` aborts. Tasks
 * are in memory unless the environment names a database.
 */
export async function serveHost(environment: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const { state = ownState(), tasksDatabase, takeoverMs } = readConfiguration(environment)
  const service = await openService(environment)
  // The standard output carries the protocol, so log messages go to the standard error.
  const log: Log = ({ method = '', name = '', message, err }) => console.error(`${method} ${name}:`, err ?? message)
  const server = createWorkItemsServer(createAzureDevOps(service.connection), {
    state,
    log,
    tasks: tasksDatabase === undefined ? undefined : taskOptions(tasksDatabase, { takeoverMs }, log),
  })
  try {
    await serveStdio(server, { signal, exit: false }).closed
  } finally {
    await service.stop()
  }
}

/** Creates a codec with a random key. The state of the one client is valid as long as this process. */
function ownState(): StateCodec {
  return sealedState({ keys: [randomKey()] })
}

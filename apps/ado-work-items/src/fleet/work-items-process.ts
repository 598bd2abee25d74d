import { randomBytes } from 'node:crypto'
import { startEmulator } from '../emulator/start-emulator.ts'
import { openTasksDatabase } from '../tasks/open-services.ts'
import { type Child, startChild } from './child.ts'

/** One instance of the server as a process, with its own emulator and database. */
export interface WorkItemsProcess {
  readonly url: string
  /** Kills the instance. */
  kill(): Promise<void>
  /** Starts the instance again at the same address. */
  start(): Promise<void>
  /** Stops the instance and its services. */
  stop(): Promise<void>
}

/** Starts the server for another application. No setting of the environment applies. */
export async function startWorkItemsProcess(): Promise<WorkItemsProcess> {
  const services = await Promise.allSettled([startEmulator(), openTasksDatabase({})])
  const opened = services.flatMap((service) => (service.status === 'fulfilled' ? [service.value] : []))
  let child: Child | undefined
  const stop = async (): Promise<void> => {
    await child?.stop()
    await Promise.all(opened.map((service) => service.stop()))
  }
  const environment = Object.assign(
    { HOST: '127.0.0.1', AUTH_ISSUERS: '', STATE_KEYS_FILE: '', STATE_KEYS: randomBytes(32).toString('hex') },
    ...opened.map((service) => service.environment),
  )
  const start = async (port: number): Promise<number> => {
    child = await startChild(new URL('../instance.js', import.meta.url), { ...environment, PORT: String(port) })
    return child.port
  }
  try {
    for (const service of services) if (service.status === 'rejected') throw service.reason
    const port = await start(0)
    return {
      url: `http://127.0.0.1:${port}/mcp`,
      kill: async () => child?.kill(),
      start: async () => void (await start(port)),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

import { once } from 'node:events'
import { type Fleet, startFleet } from './fleet/start-fleet.ts'
import { shareStateKey } from './fleet/state-key.ts'
import { formatGreeting, formatServing } from './greeting.ts'
import type { Options } from './options.ts'
import { openService, type Service } from './service.ts'
import { openTasksDatabase, type TasksDatabase } from './tasks/open-database.ts'
import type { Terminal } from '@x/client/terminal'
import { walkThrough } from './walk-through/walk-through.ts'
import { takeTurns, whoAnswers } from './your-turn/take-turns.ts'

/** The part of its process that a run uses. */
export interface RunContext {
  readonly environment: NodeJS.ProcessEnv
  /** Ends the run. */
  readonly stop: AbortController
  readonly print: (text: string) => void
  /** The terminal of a person who can be asked, if there is one. */
  readonly terminal: Omit<Terminal, 'signal'> | undefined
}

/** Starts everything, walks through it, and serves until it is stopped. Resolves to the exit code. */
export async function run(options: Options, context: RunContext): Promise<number> {
  const { signal } = context.stop
  const person = whoAnswers(options, context)
  const key = shareStateKey(context.environment)
  const service = await openService(context.environment)
  let database: TasksDatabase | undefined
  let fleet: Fleet | undefined
  try {
    database = await openTasksDatabase(context.environment)
    fleet = await startFleet({
      count: options.instances,
      port: options.port,
      environment: { ...service.environment, ...database.environment, ...key },
      onFailure: (error) => context.stop.abort(error),
    })
    signal.throwIfAborted()
    context.print(formatGreeting(options, fleet, { service, database }))
    const walked = await walk(fleet, service, context)
    if (!options.once) context.print(formatServing(fleet))
    const turns = await takeTurns(person, fleet, context)
    if (!options.once) await untilStopped(signal)
    return walked && turns ? 0 : 1
  } catch (error) {
    return endedBy(error, signal)
  } finally {
    await fleet?.stop()
    await Promise.all([service.stop(), database?.stop()])
  }
}

async function walk(fleet: Fleet, service: Service, { stop, print }: RunContext): Promise<boolean> {
  const { organization, project } = service.connection
  return walkThrough({
    url: fleet.url,
    organization,
    project,
    emulated: service.emulated,
    signal: stop.signal,
    fleet: {
      killInstance: fleet.kill,
      instances: fleet.listening,
      untilComplete: () => fleet.complete(stop.signal),
    },
    print,
  })
}

async function untilStopped(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
  signal.throwIfAborted()
}

/** Being stopped is a good end; its reason is then a `DOMException`, or else the error that ended the run. */
function endedBy(error: unknown, signal: AbortSignal): number {
  if (signal.aborted && signal.reason instanceof DOMException) return 0
  throw signal.aborted ? signal.reason : error
}

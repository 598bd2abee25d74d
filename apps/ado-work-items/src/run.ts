import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type LoginService, openLogin } from './authorization/open-login.ts'
import { readConfiguration } from './configuration.ts'
import { type Fleet, startFleet } from './fleet/start-fleet.ts'
import { formatGreeting, formatServing } from './greeting.ts'
import type { Options } from './options.ts'
import { servePage } from './serve-page.ts'
import { openService, type Service } from './service.ts'
import { openTasksDatabase, type TasksDatabase } from './tasks/open-services.ts'
import { walkThrough } from './walk-through/walk-through.ts'

/** The parts of the process that a run uses. */
export interface RunContext {
  readonly environment: NodeJS.ProcessEnv
  /** Stops the run when it aborts. */
  readonly stop: AbortController
  readonly print: (text: string) => void
}

/** The started processes and services of a run. */
interface Started {
  readonly service: Service
  readonly database: TasksDatabase
  /** Undefined without `--auth`. */
  readonly login: LoginService | undefined
  readonly fleet: Fleet
}

/** Starts all processes, runs the walk-through, and serves until the signal aborts. Resolves to the exit code. */
export async function run(options: Options, context: RunContext): Promise<number> {
  const { signal } = context.stop
  readConfiguration(context.environment)
  const stops: (() => Promise<void>)[] = []
  try {
    const started = await start(options, context, stops)
    signal.throwIfAborted()
    context.print(formatGreeting(options, started))
    const walked = await walk(started, options, context)
    if (!options.once) {
      const page = await servePage(started, options.port === 0 ? 0 : undefined)
      stops.unshift(page.close)
      context.print(formatServing(started.fleet.url, page.pageUrl))
      await untilStopped(signal)
    }
    return walked ? 0 : 1
  } catch (error) {
    return exitCodeOf(error, signal)
  } finally {
    await stops.pop()?.()
    await Promise.all(stops.map((stop) => stop()))
  }
}

/**
 * Starts the services concurrently, then the instances. Adds a function to `stops` for each started part, the fleet
 * last.
 */
async function start(
  { auth, dpop, port, instances }: Options,
  { environment, stop }: RunContext,
  stops: (() => Promise<void>)[],
): Promise<Started> {
  const opened = async <T extends { stop(): Promise<void> }>(opening: Promise<T>): Promise<T> => {
    const result = await opening
    stops.push(result.stop)
    return result
  }
  let outside: Omit<Started, 'fleet'> | undefined
  const fleet = await opened(
    startFleet({
      count: instances,
      port,
      onFailure: (error) => stop.abort(error),
      environmentAt: async (url) => {
        const [service, database, login] = await allOf([
          opened(openService(environment)),
          opened(openTasksDatabase(environment)),
          auth ? opened(openLogin(url, { dpop })) : Promise.resolve(undefined),
        ])
        outside = { service, database, login }
        const added = [service, database, login].map((part) => part?.environment)
        return Object.assign(stateKeys(environment), ...added)
      },
    }),
  )
  if (outside === undefined) throw new Error('The fleet asked for no environment.')
  return { ...outside, fleet }
}

/** Resolves like `Promise.all`, but only after all promises have settled. Every opened service can then be closed. */
async function allOf<T extends readonly unknown[]>(
  openings: readonly [...{ [I in keyof T]: Promise<T[I]> }],
): Promise<T> {
  await Promise.allSettled(openings)
  return Promise.all(openings) as Promise<unknown> as Promise<T>
}

/** Returns the sealing keys of all instances: the configured ones, or a new key for this run. */
function stateKeys({ STATE_KEYS: given, STATE_KEYS_FILE: file }: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  return given || file ? {} : { STATE_KEYS: randomBytes(32).toString('hex') }
}

async function walk(
  { fleet, service, login }: Started,
  { dpop }: Options,
  { stop, print }: RunContext,
): Promise<boolean> {
  const { organization, project } = service.connection
  const wentWell = await walkThrough({
    url: fleet.url,
    organization,
    project,
    emulated: service.emulated,
    login,
    dpop,
    signal: stop.signal,
    fleet: {
      killInstance: fleet.kill,
      instances: fleet.listening,
      untilComplete: () => fleet.complete(stop.signal),
    },
    print,
  })
  // Reopens the bugs, for those who resolve them next.
  await service.reset()
  return wentWell
}

async function untilStopped(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
  signal.throwIfAborted()
}

/**
 * Returns 0 if the user stopped the run, which the abort reason `DOMException` shows. Throws the error that ended the
 * run otherwise.
 */
function exitCodeOf(error: unknown, signal: AbortSignal): number {
  if (signal.aborted && signal.reason instanceof DOMException) return 0
  throw signal.aborted ? signal.reason : error
}

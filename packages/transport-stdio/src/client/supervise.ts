import { StdioError } from '../stdio-error.ts'
import { createLink, type Link } from './link.ts'
import type { LinkSettings, ProcessExit, StdioConnectOptions } from './options.ts'
import { probe } from './probe.ts'
import { createRestartRow, type RestartRow } from './restart-row.ts'
import { type ServerProcess, startProcess } from './server-process.ts'
import { pause } from './pause.ts'

/** Sees to it that there is a process to talk to. */
export interface Supervisor {
  /** The link to the process that runs, when one does and is ready. */
  link(): Link | undefined
  /** Starts a process unless one runs, and gives the link to it. Rejects with {@link StdioError}. */
  open(): Promise<Link>
  /** Ends the process, and whatever waits for one, for good. */
  close(reason: StdioError): Promise<void>
  readonly process: ProcessView
}

/** What can be seen of a connection's process. */
export interface ProcessView {
  /** The process that runs; `undefined` when none does. */
  readonly pid: number | undefined
  /** How many processes were started in place of one that ended. */
  readonly restarts: number
}

interface Supervision {
  readonly options: StdioConnectOptions
  readonly settings: LinkSettings
  readonly row: RestartRow
  /** Aborts when the connection is closed. */
  readonly ending: AbortController
  readonly running: Set<Running>
  starts: number
  ready: Link | undefined
}

interface Running {
  readonly process: ServerProcess
  readonly link: Link
  readonly startedAt: number
  /** Why this side ends it, when it does. */
  fault: StdioError | undefined
}

/** Starts a process when it is needed, and again when it has ended (basic/transports/stdio, unexpected termination). */
export function supervise(options: StdioConnectOptions, settings: LinkSettings): Supervisor {
  const row = createRestartRow(options.restart ?? {}, settings.clock)
  const ending = new AbortController()
  const state: Supervision = { options, settings, row, ending, running: new Set(), starts: 0, ready: undefined }
  let opening: Promise<Link> | undefined
  return {
    link: () => state.ready,
    open: () => {
      opening ??= start(state).finally(() => {
        opening = undefined
      })
      return opening
    },
    close: async (reason) => {
      ending.abort(reason)
      for (const { link } of state.running) link.fail(reason)
      await opening?.catch(() => {})
      await Promise.all([...state.running].map((one) => stop(state, one, reason)))
    },
    process: {
      get pid() {
        return [...state.running].at(-1)?.process.pid
      },
      get restarts() {
        return Math.max(0, state.starts - 1)
      },
    },
  }
}

async function start(state: Supervision): Promise<Link> {
  const { options, settings, ending } = state
  if (state.ready !== undefined) return state.ready
  ending.signal.throwIfAborted()
  await pause(state.row.pauseMs(), ending.signal, settings.clock)
  const process = await startProcess(options, settings.clock)
  const running = follow(state, process)
  try {
    ending.signal.throwIfAborted()
    await probeProcess(state, running.link)
  } catch (error) {
    await stop(state, running, faultOf(error))
    throw error
  }
  // The process may have ended right behind its answer.
  if (state.running.has(running)) state.ready = running.link
  return running.link
}

function faultOf(error: unknown): StdioError {
  return error instanceof StdioError ? error : new StdioError('probe', 'The process was ended', { cause: error })
}

function follow(state: Supervision, process: ServerProcess): Running {
  const { settings } = state
  const onEnd = (): void => void process.stop(settings.graceMs)
  const link = createLink({ streams: process.streams, settings, onEnd })
  const running: Running = { process, link, startedAt: settings.clock.now(), fault: undefined }
  state.running.add(running)
  state.starts += 1
  void process.exited.then((exit) => ended(state, running, exit))
  return running
}

function ended(state: Supervision, running: Running, exit: Omit<ProcessExit, 'expected'>): void {
  const { link, fault } = running
  state.running.delete(running)
  if (state.ready === link) state.ready = undefined
  const expected = state.ending.signal.aborted
  const error = fault ?? exitError(state.options.command, exit)
  // A process that ends in good order while nobody waits for it, as one does that was idle for long, is not at fault.
  const isOrderly = exit.exitCode === 0 && !link.isBusy() && fault === undefined
  if (!expected && !isOrderly) state.row.add(error, running.startedAt)
  link.fail(error)
  state.options.onExit?.({ ...exit, expected })
}

function exitError(command: string, { exitCode, signal, stderr }: Omit<ProcessExit, 'expected'>): StdioError {
  const how = signal === undefined ? `with code ${exitCode}` : `by ${signal}`
  const said = stderr === '' ? '' : `; the last it said: ${stderr.slice(-300)}`
  const message = `The server's process (${command}) ended ${how} before the answer, and may have acted${said}`
  return new StdioError('exited', message, { exitCode, signal, stderr })
}

function stop({ settings }: Supervision, running: Running, fault: StdioError): Promise<void> {
  running.fault ??= fault
  return running.process.stop(settings.graceMs)
}

async function probeProcess({ options, settings }: Supervision, link: Link): Promise<void> {
  if (options.probe === false) return
  const { timeoutMs = 30_000 } = options.probe ?? {}
  const controller = new AbortController()
  const late = `${options.command} did not answer server/discover within ${timeoutMs} ms: allow more with probe.timeoutMs`
  const timer = settings.clock.setTimeout(() => controller.abort(new StdioError('probe', late)), timeoutMs)
  try {
    await probe(link, options.command, controller.signal)
  } finally {
    settings.clock.clearTimeout(timer)
  }
}

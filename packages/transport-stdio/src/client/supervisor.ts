import { callListener, sleep, withTimeout } from '@x/core'
import { createCall, type Exchange } from '@x/exchange'
import {
  ConnectionStateSource,
  discoverProbe,
  olderInitializeRequest,
  olderRevisionIn,
  olderServerMessage,
  supportsDiscover,
} from '@x/exchange/internal'
import type { StreamPair } from '../close-streams.ts'
import { StdioError } from '../stdio-error.ts'
import { ClientConnection } from './client-connection.ts'
import type { ConnectionSettings, ProcessExit, StdioConnectOptions } from './options.ts'
import { createRestartPolicy, type RestartPolicy } from './restart-policy.ts'
import { type EndedProcess, type ServerProcess, startProcess } from './server-process.ts'

/** Keeps a server process available. */
export interface Supervisor {
  /** Returns the connection to the running process. Returns undefined if no process is ready. */
  getConnection(): ClientConnection | undefined
  /** Starts a process if none is running, and returns the connection to it. Rejects with {@link StdioError}. */
  open(): Promise<ClientConnection>
  /** Ends the process permanently, and rejects all callers that wait for a process. */
  close(reason: StdioError): Promise<void>
  readonly process: ProcessView
  readonly states: ConnectionStateSource
}

/** The state of a connection's process that users can read. */
export interface ProcessView {
  /** The id of the running process. `undefined` if none is running. */
  readonly pid: number | undefined
  /** The number of processes that were started to replace an earlier one. */
  readonly restartCount: number
  /**
   * Ends the running process at once, as a crash would: by SIGKILL, with the processes that it has started. Its calls
   * reject with `exited`. It counts as no failure, so the next call starts another process without a pause. Does nothing
   * if no process is running.
   */
  kill(): void
}

interface SupervisorState {
  readonly options: StdioConnectOptions
  readonly settings: ConnectionSettings
  readonly restartPolicy: RestartPolicy
  /** Aborts when the connection is closed. */
  readonly closeController: AbortController
  readonly runningProcesses: Set<RunningProcess>
  readonly states: ConnectionStateSource
  startCount: number
  /** True once a process has answered. Until then, a process that ends is not started again. */
  hasAnswered: boolean
  readyConnection: ClientConnection | undefined
}

interface RunningProcess {
  readonly process: ServerProcess
  readonly clientConnection: ClientConnection
  readonly startedAt: number
  /** The error that explains why this side ends the process. Undefined if it does not. */
  stopError: StdioError | undefined
  /** True once the program has asked for the end of the process. */
  isKilled: boolean
}

/**
 * Creates a supervisor, which starts a process on demand and again after an exit (basic/transports/stdio, unexpected
 * termination).
 */
export function createSupervisor(options: StdioConnectOptions, settings: ConnectionSettings): Supervisor {
  const restartPolicy = createRestartPolicy(options.restart, settings.clock)
  const closeController = new AbortController()
  const state: SupervisorState = {
    options,
    settings,
    restartPolicy,
    closeController,
    runningProcesses: new Set(),
    states: new ConnectionStateSource(),
    startCount: 0,
    hasAnswered: false,
    readyConnection: undefined,
  }
  let openPromise: Promise<ClientConnection> | undefined
  return {
    states: state.states,
    getConnection: () => state.readyConnection,
    open: () => {
      openPromise ??= startConnection(state).finally(() => {
        openPromise = undefined
      })
      return openPromise
    },
    close: async (reason) => {
      state.states.close(reason)
      closeController.abort(reason)
      for (const { clientConnection } of state.runningProcesses) clientConnection.fail(reason)
      await openPromise?.catch(() => {})
      await Promise.all(
        [...state.runningProcesses].map((processToStop) => stopRunningProcess(state, processToStop, reason)),
      )
    },
    process: {
      get pid() {
        return [...state.runningProcesses].at(-1)?.process.pid
      },
      get restartCount() {
        return Math.max(0, state.startCount - 1)
      },
      kill: () => {
        for (const runningProcess of state.runningProcesses) {
          runningProcess.isKilled = true
          state.readyConnection = undefined
          runningProcess.process.kill()
        }
      },
    },
  }
}

async function startConnection(state: SupervisorState): Promise<ClientConnection> {
  const { options, settings, closeController } = state
  if (state.readyConnection !== undefined) return state.readyConnection
  closeController.signal.throwIfAborted()
  await waitForKilled(state)
  const pauseMs = state.restartPolicy.computePauseMs()
  if (pauseMs > 0) await sleep(pauseMs, { clock: settings.clock, signal: closeController.signal })
  const process = await startProcess(options, settings).catch((error: unknown) => {
    if (error instanceof Error) state.states.lose(error)
    throw error
  })
  const runningProcess = registerProcess(state, process, await wrapStreams(process, options, settings))
  try {
    closeController.signal.throwIfAborted()
    await initializeProcess(state, runningProcess.clientConnection)
    state.hasAnswered = true
  } catch (error) {
    await stopRunningProcess(state, runningProcess, toStdioError(error))
    throw error
  }
  // The process may have exited directly after its first response.
  if (state.runningProcesses.has(runningProcess)) {
    state.readyConnection = runningProcess.clientConnection
    state.states.open()
  }
  return runningProcess.clientConnection
}

function toStdioError(error: unknown): StdioError {
  return error instanceof StdioError ? error : new StdioError('probe', 'The process was ended', { cause: error })
}

/** Waits for the exits of processes that were killed, because `onExit` of one must precede `onStart` of the next. */
async function waitForKilled({ runningProcesses }: SupervisorState): Promise<void> {
  const killed = [...runningProcesses].filter(({ isKilled }) => isKilled)
  await Promise.all(killed.map(({ process }) => process.exitPromise))
}

function registerProcess(state: SupervisorState, process: ServerProcess, streams: StreamPair): RunningProcess {
  const { settings } = state
  const onEnd = (): void => void process.stop(settings.graceMs)
  const connection = new ClientConnection({ streams, settings, onEnd })
  const runningProcess: RunningProcess = {
    process,
    clientConnection: connection,
    startedAt: settings.clock.monotonicNow(),
    stopError: undefined,
    isKilled: false,
  }
  state.runningProcesses.add(runningProcess)
  state.startCount += 1
  void process.exitPromise.then((exit) => handleExit(state, runningProcess, exit))
  return runningProcess
}

/** Returns the streams of a new process as the program wants them. Ends the process if the program fails to wrap them. */
async function wrapStreams(
  { pid, streams, stop }: ServerProcess,
  { wrapStreams: wrap }: StdioConnectOptions,
  { graceMs }: ConnectionSettings,
): Promise<StreamPair> {
  try {
    return wrap === undefined ? streams : wrap(streams, pid)
  } catch (error) {
    await stop(graceMs)
    throw error
  }
}

function handleExit(state: SupervisorState, runningProcess: RunningProcess, exit: EndedProcess): void {
  const { clientConnection, stopError, isKilled } = runningProcess
  state.runningProcesses.delete(runningProcess)
  if (state.readyConnection === clientConnection) state.readyConnection = undefined
  const isExpected = state.closeController.signal.aborted
  const { options, hasAnswered } = state
  const error = stopError ?? createEndError(options.command, exit, hasAnswered || isKilled)
  // An exit with code 0 while no call is pending does not count as a failure. An idle process may exit in this way.
  const isOrderly = isKilled || (exit.exitCode === 0 && !clientConnection.isBusy() && stopError === undefined)
  if (!isExpected && !isOrderly) state.restartPolicy.recordExit(error, runningProcess.startedAt)
  reportExit(state, error)
  clientConnection.fail(error)
  const { onExit } = state.options
  const { firstOutput: _, ...publicExit } = exit
  if (onExit !== undefined) callListener(onExit, { ...publicExit, expected: isExpected }, reportExitFailure(state))
}

/** The next call starts the process again, if the policy allows that. */
function reportExit({ restartPolicy, states }: SupervisorState, error: StdioError): void {
  try {
    restartPolicy.computePauseMs()
    states.lose(error)
  } catch (reason) {
    states.fail(toStdioError(reason))
  }
}

function reportExitFailure({ settings }: SupervisorState): (error: unknown) => void {
  return (cause) => settings.onError(new StdioError('exited', 'onExit failed', { cause }))
}

function createEndError(command: string, exit: EndedProcess, canStartAgain: boolean): StdioError {
  return canStartAgain ? createExitError(command, exit) : createStartError(command, exit)
}

/** The error of a process that never answered. Another start would most likely end in the same way. */
function createStartError(command: string, { exitCode, signal, stderr, firstOutput }: EndedProcess): StdioError {
  // The reason comes first in the report of a runtime. The calls that led to it follow, and would fill the last lines.
  const outputSuffix = firstOutput === '' ? '; it wrote nothing to stderr' : `; its first output: ${firstOutput}`
  const message = `The server's process (${command}) ended ${describeEnd({ exitCode, signal })} before it answered anything, and is not started again${outputSuffix}`
  return new StdioError('restarts', message, { exitCode, signal, stderr })
}

function describeEnd({ exitCode, signal }: Pick<ProcessExit, 'exitCode' | 'signal'>): string {
  return signal === undefined ? `with code ${exitCode}` : `by ${signal}`
}

function createExitError(command: string, { exitCode, signal, stderr }: EndedProcess): StdioError {
  const outputSuffix = stderr === '' ? '' : `; its last output: ${stderr.slice(-300)}`
  const message = `The server's process (${command}) ended ${describeEnd({ exitCode, signal })} before the response, and may have acted${outputSuffix}`
  return new StdioError('exited', message, { exitCode, signal, stderr })
}

function stopRunningProcess(
  { settings }: SupervisorState,
  runningProcess: RunningProcess,
  stopError: StdioError,
): Promise<void> {
  runningProcess.stopError ??= stopError
  return runningProcess.process.stop(settings.graceMs)
}

/** The time limit of the first request to a new process. A package runner may download the program first. */
const probeTimeoutMs = 60_000

/** Sends the first requests to a new process, before any call. */
async function initializeProcess(
  { options, settings, closeController }: SupervisorState,
  connection: ClientConnection,
): Promise<void> {
  if (options.onStart !== undefined) {
    const exchange: Exchange = (request, call) => connection.send(request, call)
    return options.onStart({ exchange, notify: (message) => connection.notify(message) }, closeController.signal)
  }
  const message = `${options.command} did not answer server/discover within ${probeTimeoutMs} ms: is it an MCP server?`
  const createTimeoutError = (): StdioError => new StdioError('probe', message)
  await withTimeout({ timeoutMs: probeTimeoutMs, clock: settings.clock, createTimeoutError }, (signal) =>
    probeServer(connection, options.command, signal),
  )
}

/**
 * Checks that a new process implements this protocol revision, before any request that an older server would
 * misinterpret (basic/transports/stdio, backward compatibility). A server passes if it answers `server/discover`. Any
 * other server is asked for its revision. Rejects with {@link StdioError} `unsupported_version`, or with the reason of
 * the signal.
 */
async function probeServer(connection: ClientConnection, command: string, signal: AbortSignal): Promise<void> {
  const call = createCall({ signal })
  if (supportsDiscover(await connection.send(discoverProbe, call))) return
  const message = olderServerMessage(olderRevisionIn(await connection.send({ ...olderInitializeRequest, id: 1 }, call)))
  const advice = 'connectAny of @x/legacy/client speaks both'
  throw new StdioError('unsupported_version', `${command}: ${message}; ${advice}`)
}

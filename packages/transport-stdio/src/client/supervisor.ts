import { callListener, sleep, withTimeout } from '@x/core'
import { createCall, type Exchange, type ProcessView } from '@x/exchange'
import {
  ConnectionStateSource,
  discoverProbe,
  olderInitializeRequest,
  olderRevisionIn,
  olderServerMessage,
  supportsDiscover,
} from '@x/exchange/internal'
import type { StreamPair } from '../close-streams.ts'
import { StdioError, toUnsentError } from '../stdio-error.ts'
import { ClientConnection } from './client-connection.ts'
import type { ConnectionSettings, StdioConnectOptions } from './options.ts'
import { RestartPolicy } from './restart-policy.ts'
import { type EndedProcess, type ServerProcess, startProcess } from './server-process.ts'

interface RunningProcess {
  readonly process: ServerProcess
  readonly clientConnection: ClientConnection
  readonly startedAt: number
  stopError: StdioError | undefined
  isKilled: boolean
  /** It answers nothing any more. */
  isEnding: boolean
}

/**
 * Keeps a server process available: starts it on demand, and again after an exit (basic/transports/stdio, unexpected
 * termination).
 */
export class Supervisor {
  readonly states = new ConnectionStateSource()
  readonly process: ProcessView
  readonly #options: StdioConnectOptions
  readonly #settings: ConnectionSettings
  readonly #restartPolicy: RestartPolicy
  readonly #closeController = new AbortController()
  // Bounded by the processes that the host has started.
  readonly #runningProcesses = new Set<RunningProcess>()
  #startCount = 0
  /** Until a process has answered once, one that ends is not started again. */
  #hasAnswered = false
  #readyConnection: ClientConnection | undefined
  #openPromise: Promise<ClientConnection> | undefined

  constructor(options: StdioConnectOptions, settings: ConnectionSettings) {
    this.#options = options
    this.#settings = settings
    this.#restartPolicy = new RestartPolicy(options.restart, settings.clock)
    const lastPid = (): number | undefined => [...this.#runningProcesses].at(-1)?.process.pid
    const countRestarts = (): number => Math.max(0, this.#startCount - 1)
    this.process = {
      get pid() {
        return lastPid()
      },
      get restartCount() {
        return countRestarts()
      },
      kill: () => this.#kill(),
    }
  }

  /** Undefined if no process is ready. */
  get readyConnection(): ClientConnection | undefined {
    return this.#readyConnection
  }

  /** Starts a process if none is running. Rejects with {@link StdioError}. */
  open(): Promise<ClientConnection> {
    this.#openPromise ??= this.#start().finally(() => {
      this.#openPromise = undefined
    })
    return this.#openPromise
  }

  /** Ends the process for good, and rejects all callers that wait for one. */
  async close(reason: StdioError): Promise<void> {
    this.states.close(reason)
    this.#closeController.abort(toUnsentError(reason))
    for (const { clientConnection } of this.#runningProcesses) clientConnection.fail(reason)
    await this.#openPromise?.catch(() => {})
    await Promise.all([...this.#runningProcesses].map((runningProcess) => this.#stop(runningProcess, reason)))
  }

  #kill(): void {
    for (const runningProcess of this.#runningProcesses) {
      runningProcess.isKilled = true
      this.#retire(runningProcess)
      runningProcess.process.kill()
    }
  }

  /** Calls from now on wait for the next process. */
  #retire(runningProcess: RunningProcess): void {
    runningProcess.isEnding = true
    if (this.#readyConnection === runningProcess.clientConnection) this.#readyConnection = undefined
  }

  async #start(): Promise<ClientConnection> {
    const { signal } = this.#closeController
    if (this.#readyConnection !== undefined) return this.#readyConnection
    signal.throwIfAborted()
    await this.#waitForEnding()
    signal.throwIfAborted()
    const pauseMs = this.#restartPolicy.computePauseMs()
    if (pauseMs > 0) await sleep(pauseMs, { clock: this.#settings.clock, signal })
    const process = await startProcess(this.#options, this.#settings).catch((error: unknown) => {
      if (error instanceof Error) this.states.lose(error)
      throw error
    })
    const runningProcess = this.#register(process, await wrapStreams(process, this.#options, this.#settings))
    try {
      signal.throwIfAborted()
      await initializeProcess(runningProcess.clientConnection, this.#options, { clock: this.#settings.clock, signal })
      this.#hasAnswered = true
    } catch (error) {
      await this.#stop(runningProcess, toStdioError(error))
      throw toUnsentError(signal.aborted ? signal.reason : error)
    }
    // It may have exited right after its first response.
    if (!runningProcess.isEnding) {
      this.#readyConnection = runningProcess.clientConnection
      this.states.open()
    }
    return runningProcess.clientConnection
  }

  /** `onExit` of a process must precede `onStart` of the next. Without a ready one, all that run are ending. */
  async #waitForEnding(): Promise<void> {
    await Promise.all([...this.#runningProcesses].map(({ process }) => process.exitPromise))
  }

  #register(process: ServerProcess, streams: StreamPair): RunningProcess {
    const settings = this.#settings
    const onEnd = (): void => {
      this.#retire(runningProcess)
      void process.stop(settings.graceMs)
    }
    const runningProcess: RunningProcess = {
      process,
      clientConnection: new ClientConnection(streams, settings, onEnd),
      startedAt: settings.clock.monotonicNow(),
      stopError: undefined,
      isKilled: false,
      isEnding: false,
    }
    this.#runningProcesses.add(runningProcess)
    this.#startCount += 1
    void process.exitPromise.then((exit) => this.#handleExit(runningProcess, exit))
    return runningProcess
  }

  #handleExit(runningProcess: RunningProcess, exit: EndedProcess): void {
    const { clientConnection, stopError, isKilled } = runningProcess
    this.#runningProcesses.delete(runningProcess)
    this.#retire(runningProcess)
    const isExpected = this.#closeController.signal.aborted
    const { command, onExit } = this.#options
    const mayHaveRun = clientConnection.mayAct()
    const error =
      stopError ?? createEndError(command, exit, { canStartAgain: this.#hasAnswered || isKilled, mayHaveRun })
    // An idle process may exit with code 0; that is no failure.
    const isOrderly = isKilled || (exit.exitCode === 0 && !clientConnection.isBusy() && stopError === undefined)
    if (!isExpected && !isOrderly) this.#restartPolicy.recordExit(error, runningProcess.startedAt)
    this.#reportExit(error)
    clientConnection.fail(error)
    const { firstOutput: _, lastOutput: __, isForced: ___, ...publicExit } = exit
    const reportFailure = (cause: unknown): void =>
      this.#settings.onError(new StdioError('exited', 'onExit failed', { cause }))
    if (onExit !== undefined) callListener(onExit, { ...publicExit, expected: isExpected }, reportFailure)
  }

  #reportExit(error: StdioError): void {
    try {
      this.#restartPolicy.computePauseMs()
      this.states.lose(error)
    } catch (reason) {
      this.states.fail(toStdioError(reason))
    }
  }

  #stop(runningProcess: RunningProcess, stopError: StdioError): Promise<void> {
    runningProcess.stopError ??= stopError
    return runningProcess.process.stop(this.#settings.graceMs)
  }
}

function toStdioError(error: unknown): StdioError {
  return error instanceof StdioError ? error : new StdioError('probe', 'The process was ended', { cause: error })
}

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

function createEndError(
  command: string,
  exit: EndedProcess,
  { canStartAgain, mayHaveRun }: { readonly canStartAgain: boolean; readonly mayHaveRun: boolean },
): StdioError {
  return canStartAgain ? createExitError(command, exit, mayHaveRun) : createStartError(command, exit)
}

/** For a process that never answered: starting it again would most likely end the same way. */
function createStartError(command: string, exit: EndedProcess): StdioError {
  const { exitCode, signal, stderr, firstOutput } = exit
  // A runtime reports its reason first. The calls that led to it follow, and would fill the last lines.
  const outputSuffix = firstOutput === '' ? '; it wrote nothing to stderr' : `; its first output: ${firstOutput}`
  const message = `The server's process (${command}) ${describeEnd(exit)} before it answered anything${outputSuffix}`
  return new StdioError('restarts', message, { exitCode, signal, stderr })
}

/** Nobody but this connection may have sent the signal, so the message says why. */
function describeEnd({ exitCode, signal, isForced }: EndedProcess): string {
  const end = signal === undefined ? `ended with code ${exitCode}` : `ended by ${signal}`
  return isForced ? `closed its stdin or stdout, and was ${end}` : end
}

function createExitError(command: string, exit: EndedProcess, mayHaveRun: boolean): StdioError {
  const { exitCode, signal, stderr, lastOutput } = exit
  const effectSuffix = mayHaveRun ? ' before the response, and may have acted' : ''
  const outputSuffix = lastOutput === '' ? '' : `; its last output: ${lastOutput}`
  const message = `The server's process (${command}) ${describeEnd(exit)}${effectSuffix}${outputSuffix}`
  return new StdioError('exited', message, { exitCode, signal, stderr, mayHaveRun })
}

/** For the first request to a process: a package runner may have to download the program. */
const probeTimeoutMs = 60_000

async function initializeProcess(
  connection: ClientConnection,
  options: StdioConnectOptions,
  { clock, signal: closeSignal }: { readonly clock: ConnectionSettings['clock']; readonly signal: AbortSignal },
): Promise<void> {
  if (options.onStart !== undefined) {
    const exchange: Exchange = (request, call) => connection.send(request, call)
    return options.onStart({ exchange, notify: (message) => connection.notify(message) }, closeSignal)
  }
  const message = `${options.command} did not answer server/discover within ${probeTimeoutMs} ms: is it an MCP server?`
  const createTimeoutError = (): StdioError => new StdioError('probe', message)
  await withTimeout({ timeoutMs: probeTimeoutMs, clock, createTimeoutError }, (signal) =>
    probeServer(connection, options.command, signal),
  )
}

/**
 * An older server would misinterpret our requests, so nothing else is sent before it has answered `server/discover`
 * (basic/transports/stdio, backward compatibility). One that does not is asked for its revision. Rejects with
 * {@link StdioError} `unsupported_version`, or with the reason of the signal.
 */
async function probeServer(connection: ClientConnection, command: string, signal: AbortSignal): Promise<void> {
  const call = createCall({ signal })
  if (supportsDiscover(await connection.send(discoverProbe, call))) return
  const message = olderServerMessage(olderRevisionIn(await connection.send({ ...olderInitializeRequest, id: 1 }, call)))
  const advice = 'connectAny of @x/legacy/client speaks both'
  throw new StdioError('unsupported_version', `${command}: ${message}; ${advice}`)
}

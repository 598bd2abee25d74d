import { setTimeout as sleep } from 'node:timers/promises'
import { type CallOptions, type Client, type ClientOptions, createClient, isClientError } from '@x/client'
import { messageOf } from '@x/core'
import { type AnyConnection, connectAny } from '@x/legacy/client'
import { isTaskError, type TaskHandle, type TasksClient, tasksClient } from '@x/tasks/client'
import { CliError, type ExitCode } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import { createTokenAuthorizer } from './given-token.ts'
import { ServerOutput } from './server-output.ts'
import { createCommandLogin, loginTimeoutMs, OtherUrlError } from './stored-login.ts'
import { failUnreachable, sayWaiting } from './unanswered-requests.ts'
import { parseTargetText, type ServerTarget } from './target.ts'

export interface TargetOptions {
  readonly token?: string
  readonly verbose?: boolean
  readonly wait?: boolean
  readonly timeout?: number
}

/** `connectAny` gives a program a minute to start, and then starts it once more. */
const startTimeoutMs = 150_000

const clientName = 'mcpx'

/**
 * A person at a terminal logs in with a browser if the server requires it. Without a terminal, an earlier login is
 * used.
 */
function connectServer(
  target: ServerTarget,
  { options: { token }, io }: WithClientOptions,
  output: ServerOutput,
  onLoginNeeded: (addedScopes: readonly string[]) => void,
): AnyConnection {
  if (!(target instanceof URL)) return connectAny(target, { stdio: { stderr: (line) => output.add(line) } })
  if (token !== undefined) return connectAny(target, { http: { auth: createTokenAuthorizer(token) } })
  return connectAny(target, { http: { auth: createCommandLogin(io.input.isTTY === true, onLoginNeeded) } })
}

type RunWithClient = (client: Client & { readonly tasks: TasksClient }) => Promise<ExitCode>

/**
 * Runs a function with a client of a server, and closes the connection afterwards. If it fails, shows what a server
 * that is a command has written to its standard error. A server that requires a login is used at the URL that it gives
 * as its own, because only that one has logins.
 */
export async function withClient(text: string, context: WithClientOptions, run: RunWithClient): Promise<ExitCode> {
  try {
    return await runWithClient(text, context, run)
  } catch (error) {
    const ownUrl = ownUrlOf(error)
    if (ownUrl === undefined) throw error
    context.io.errorOutput.write(`mcpx: ${text} calls itself ${ownUrl.href}, which is used for the login\n`)
    return runWithClient(ownUrl.href, context, run)
  }
}

function ownUrlOf(error: unknown): URL | undefined {
  const cause = isClientError(error) ? error.cause : error
  return cause instanceof OtherUrlError ? cause.url : undefined
}

async function runWithClient(
  text: string,
  { options, io, client: clientOptions = {}, hasTimeout = false }: WithClientOptions,
  run: RunWithClient,
): Promise<ExitCode> {
  const output = new ServerOutput(io, options.verbose === true)
  const target = parseTargetText(text)
  let neededScopes: readonly string[] | undefined
  const onLoginNeeded = (addedScopes: readonly string[]): void => void (neededScopes = addedScopes)
  const connection = connectServer(target, { options, io }, output, onLoginNeeded)
  let code: ExitCode | undefined
  let task: TaskHandle | undefined
  try {
    const info = { name: clientName, version: '1.0.0' }
    const isQuiet = (): boolean => connection.closed.aborted || connection.state.status === 'login_needed'
    const use = [failUnreachable(), sayWaiting(text, io, isQuiet)]
    const extensions = [tasksClient({ onAbort: 'leave', onTask: (started) => void (task = started) })] as const
    const timeoutMs = options.timeout ?? patienceMs(target, options, io)
    const client = createClient(connection, { ...info, timeoutMs, use, ...clientOptions, extensions })
    await startServer(client, target, { options, io, text })
    code = await run(client)
    return code
  } catch (error) {
    if (task !== undefined) await cancelRunningTask(task, io)
    throw withLoginAdvice(withTimeoutAdvice(output.shorten(error), hasTimeout), text, neededScopes)
  } finally {
    await connection.close()
    if (code !== 0) output.show()
  }
}

async function startServer(
  client: Client,
  target: ServerTarget,
  { options: { wait, timeout }, io, text }: WithClientOptions & { readonly text: string },
): Promise<void> {
  if (wait === true) await waitForServer(client, text, io)
  if (!(target instanceof URL)) await client.discover({ signal: io.signal, timeoutMs: timeout ?? startTimeoutMs })
}

/** For a request that may wait for a person who logs in. Undefined for the client's own limit. */
function patienceMs(target: ServerTarget, { token }: TargetOptions, { input }: CliIo): number | undefined {
  return target instanceof URL && token === undefined && input.isTTY === true ? loginTimeoutMs : undefined
}

/** The client names an option of programs. Only `call` has one of the same meaning. */
function withTimeoutAdvice(error: unknown, hasTimeout: boolean): unknown {
  const [message, advice] = messageOf(error).split(/(; allow more with )timeoutMs$/)
  if (message === undefined || advice === undefined) return error
  return new CliError('failure', hasTimeout ? `${message}${advice}--timeout` : message, { cause: error })
}

/**
 * For a login that a command without a terminal cannot begin. `addedScopes` are those that an earlier login lacks. Empty
 * for a login from the start.
 */
function withLoginAdvice(error: unknown, text: string, addedScopes: readonly string[] | undefined): unknown {
  if (addedScopes === undefined) return error
  const advice =
    addedScopes.length === 0
      ? `Log in with "mcpx list ${text}" at a terminal, or pass --token.`
      : `The login at ${text} lacks ${addedScopes.join(' ')}. Repeat this at a terminal, where you can grant it, or pass --token.`
  return new CliError('failure', [messageOf(error), advice].join('\n'), { cause: error })
}

const cancelTimeoutMs = 2000

/**
 * Otherwise the task of a call that a person stops, or for which an answer is missing, would stay for a day, and its id
 * would be lost.
 */
async function cancelRunningTask(task: TaskHandle, { errorOutput, signal }: CliIo): Promise<void> {
  const options = { timeoutMs: cancelTimeoutMs, maxResendMs: 0 }
  if (!signal.aborted && (await hasEnded(task, options))) return
  const end = await task.cancel(options).then(
    () => 'is being cancelled',
    () => 'continues at the server, which did not answer',
  )
  errorOutput.write(`mcpx: the task ${task.taskId} ${end}\n`)
}

/** False if the server does not answer. */
function hasEnded(task: TaskHandle, options: CallOptions): Promise<boolean> {
  return task.status(options).then(
    ({ status }) => status !== 'working' && status !== 'input_required',
    (error: unknown) => isTaskError(error),
  )
}

interface WithClientOptions {
  readonly options: TargetOptions
  readonly io: CliIo
  readonly client?: Partial<Omit<ClientOptions, 'extensions'>>
  /** True for a command with the option `--timeout`. Default: false. */
  readonly hasTimeout?: boolean
}

const waitPauseMs = 200

/** Any answer ends the wait, and so does any failure but an unreachable address. */
async function waitForServer(client: Client, target: string, { errorOutput, signal }: CliIo): Promise<void> {
  for (let tries = 0; !(await isReachable(client, signal)); tries += 1) {
    if (tries === 0) errorOutput.write(`mcpx: waiting for ${target}\n`)
    await sleep(waitPauseMs, undefined, { signal })
  }
}

async function isReachable(client: Client, signal: AbortSignal): Promise<boolean> {
  try {
    await client.discover({ signal, maxResendMs: 0 })
    return true
  } catch (error) {
    signal.throwIfAborted()
    return !isClientError(error) || !(error.cause instanceof CliError)
  }
}

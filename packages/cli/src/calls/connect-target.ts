import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, type ClientOptions, createClient, isClientError } from '@x/client'
import { type AnyConnection, connectAny } from '@x/legacy/client'
import { type TaskHandle, type TasksClient, tasksClient } from '@x/tasks/client'
import { CliError, type ExitCode } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import { createServerOutput, type ServerOutput } from './server-output.ts'
import { createLogin, loginTimeoutMs, withoutNewLogins } from './stored-login.ts'
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

interface ConnectContext {
  readonly io: CliIo
  readonly output: ServerOutput
  onLoginNeeded(): void
}

/**
 * A person at a terminal logs in with a browser if the server requires it. Without a terminal, an earlier login is
 * used.
 */
function connectServer(
  target: ServerTarget,
  { token }: TargetOptions,
  { io, output, onLoginNeeded }: ConnectContext,
): AnyConnection {
  if (!(target instanceof URL)) return connectAny(target, { stdio: { stderr: output.onLine } })
  if (token !== undefined) return connectAny(target, { http: { headers: { authorization: `Bearer ${token}` } } })
  const login = createLogin()
  const auth = io.input.isTTY === true ? login : withoutNewLogins(login, onLoginNeeded)
  return connectAny(target, { http: { auth } })
}

/**
 * Runs a function with a client of a server, and closes the connection afterwards. If it fails, shows what a server
 * that is a command has written to its standard error.
 */
export async function withClient(
  text: string,
  { options, io, client: clientOptions = {} }: WithClientOptions,
  run: (client: Client & { readonly tasks: TasksClient }) => Promise<ExitCode>,
): Promise<ExitCode> {
  const output = createServerOutput(io, options.verbose === true)
  const target = parseTargetText(text)
  let isLoginNeeded = false
  const onLoginNeeded = (): void => void (isLoginNeeded = true)
  const connection = connectServer(target, options, { io, output, onLoginNeeded })
  let code: ExitCode | undefined
  let task: TaskHandle | undefined
  try {
    const info = { name: clientName, version: '1.0.0' }
    const use = [failUnreachable(), sayWaiting(text, io, () => connection.state.status === 'login_needed')]
    const extensions = [tasksClient({ onAbort: 'leave', onTask: (started) => void (task = started) })] as const
    const timeoutMs = options.timeout ?? patienceMs(target, options, io)
    const client = createClient(connection, { ...info, timeoutMs, use, ...clientOptions, extensions })
    await startServer(client, target, { options, io, text })
    code = await run(client)
    return code
  } catch (error) {
    if (task !== undefined && io.signal.aborted) await cancelRunningTask(task, io)
    throw withLoginAdvice(output.shorten(error), isLoginNeeded ? text : undefined)
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

function withLoginAdvice(error: unknown, target: string | undefined): unknown {
  if (target === undefined) return error
  const message = error instanceof Error ? error.message : String(error)
  const advice = `Log in with "mcpx list ${target}" at a terminal, or pass --token.`
  return new CliError('failure', [message, advice].join('\n'), { cause: error })
}

const cancelTimeoutMs = 2000

/** Otherwise the task of a call that a person stops would run for a day, and its id would be lost. */
async function cancelRunningTask(task: TaskHandle, { errorOutput }: CliIo): Promise<void> {
  const end = await task.cancel({ timeoutMs: cancelTimeoutMs, maxResendMs: 0 }).then(
    () => 'is cancelled',
    () => 'continues at the server, which did not answer',
  )
  errorOutput.write(`mcpx: the task ${task.taskId} ${end}\n`)
}

interface WithClientOptions {
  readonly options: TargetOptions
  readonly io: CliIo
  readonly client?: Partial<Omit<ClientOptions, 'extensions'>>
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

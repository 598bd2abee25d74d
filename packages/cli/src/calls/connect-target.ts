import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, type ClientOptions, createClient, isClientError } from '@x/client'
import { oauth } from '@x/auth/client'
import { fileStore, loopbackRedirect } from '@x/auth/node'
import { type AnyConnection, connectAny } from '@x/legacy/client'
import { type TaskHandle, type TasksClient, tasksClient } from '@x/tasks/client'
import { CliError, type ExitCode } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import { createServerOutput, type ServerOutput } from './server-output.ts'
import { failUnreachable, sayWaiting } from './unanswered-requests.ts'
import { parseTargetText, type ServerTarget } from './target.ts'

/** The options of commands that use a server. */
export interface TargetOptions {
  readonly token?: string
  readonly verbose?: boolean
  readonly wait?: boolean
  readonly timeout?: number
}

/** Milliseconds that a program has to start: `connectAny` waits a minute, and then starts it once more. */
const startTimeoutMs = 150_000

const clientName = 'mcpx'

/**
 * Connects to a server of any revision. A person at a terminal logs in with a browser if the server requires it. The
 * tokens are stored in a folder of the user.
 */
function connectServer(
  target: ServerTarget,
  { token }: TargetOptions,
  { io: { input }, output }: { readonly io: CliIo; readonly output: ServerOutput },
): AnyConnection {
  if (!(target instanceof URL)) return connectAny(target, { stdio: { stderr: output.onLine } })
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const canLogIn = token === undefined && input.isTTY === true
  const auth = canLogIn
    ? oauth({ client: { name: clientName }, redirect: loopbackRedirect(), store: fileStore(clientName) })
    : undefined
  return connectAny(target, { http: { headers, auth } })
}

/**
 * Runs a function with a client of a server, and closes the connection afterwards. If the function fails, writes what a
 * server that is a command has written to its standard error.
 */
export async function withClient(
  text: string,
  { options, io, client: clientOptions = {} }: WithClientOptions,
  run: (client: Client & { readonly tasks: TasksClient }) => Promise<ExitCode>,
): Promise<ExitCode> {
  const output = createServerOutput(io, options.verbose === true)
  const target = parseTargetText(text)
  const connection = connectServer(target, options, { io, output })
  let code: ExitCode | undefined
  let task: TaskHandle | undefined
  try {
    const info = { name: clientName, version: '1.0.0' }
    const use = [failUnreachable(), sayWaiting(text, io)]
    const extensions = [tasksClient({ onAbort: 'leave', onTask: (started) => void (task = started) })] as const
    const client = createClient(connection, { ...info, use, ...clientOptions, extensions })
    if (options.wait === true) await waitForServer(client, text, io)
    if (!(target instanceof URL))
      await client.discover({ signal: io.signal, timeoutMs: options.timeout ?? startTimeoutMs })
    code = await run(client)
    return code
  } catch (error) {
    if (task !== undefined && io.signal.aborted) await cancelRunningTask(task, io)
    throw output.shorten(error)
  } finally {
    await connection.close()
    if (code !== 0) output.show()
  }
}

const cancelTimeoutMs = 2000

/** Cancels the task of a call that a person has stopped. It would go on for a day, and nobody would have its id. */
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

/** Waits until a server listens at its address. Any answer ends the wait, and so does any other failure. */
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

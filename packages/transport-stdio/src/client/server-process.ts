import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import { callListener, type Clock, codeOf, messageOf, settlesWithin } from '@x/core'
import type { ProcessExit } from '@x/exchange'
import type { StreamPair } from '../close-streams.ts'
import { StdioError } from '../stdio-error.ts'
import type { ConnectionSettings, StdioConnectOptions } from './options.ts'
import { createProcessTree, forwardSignals } from './process-tree.ts'
import { selectSpawner, type Spawner } from './spawner.ts'
import { readLines } from '../read-lines.ts'

const maxStderrLineBytes = 8192
const maxStderrLineCount = 20
const maxStderrCharacterCount = 2000
const maxFirstOutputLength = 600
const maxLastOutputLength = 300

const stackFrame = /^\s+at /
/** As runtimes of several languages begin the line that says why they end. */
const problemLine = /^\s*(?:Uncaught )?(?:[\w.$]*(?:Error|Exception)\b|panic: |fatal: |error: )/

/** The last lines of an output, from the last one on that names an error: stack and source would take their place. */
class LastOutput {
  #lines: string[] = []

  add(line: string): void {
    if (stackFrame.test(line) || line.trim() === '') return
    if (problemLine.test(line)) this.#lines = []
    this.#lines.push(line)
    if (this.#lines.length > maxStderrLineCount) this.#lines.shift()
  }

  toString(): string {
    const [first = ''] = this.#lines
    const text = this.#lines.join('\n').trim()
    return problemLine.test(first) ? text.slice(0, maxLastOutputLength) : text.slice(-maxLastOutputLength)
  }
}

/** Any text is allowed on stderr, and none of it means an error (basic/transports/stdio). */
function readStderr(
  stream: Readable,
  onLine: StdioConnectOptions['stderr'],
  onError: ConnectionSettings['onError'],
): () => Pick<EndedProcess, 'stderr' | 'firstOutput' | 'lastOutput'> {
  const reportFailure = (cause: unknown): void => onError(new StdioError('protocol', 'stderr failed', { cause }))
  const lastLines: string[] = []
  const lastOutput = new LastOutput()
  let firstLines = ''
  const addLine = (line: string): void => {
    lastLines.push(line)
    lastOutput.add(line)
    if (firstLines.length < maxFirstOutputLength && !stackFrame.test(line)) firstLines += `${line}\n`
    if (lastLines.length > maxStderrLineCount) lastLines.shift()
    if (typeof onLine === 'function') callListener(onLine, line, reportFailure)
  }
  readLines(stream, maxStderrLineBytes, {
    onLine: addLine,
    onSkipped: ({ head }) => addLine(`${head}…`),
    onEnd: () => {},
  })
  return () => ({
    stderr: lastLines.join('\n').slice(-maxStderrCharacterCount),
    firstOutput: firstLines.slice(0, maxFirstOutputLength).trim(),
    lastOutput: lastOutput.toString(),
  })
}

const posixVariableNames = 'HOME LANG LC_ALL LOGNAME PATH SHELL TERM TMPDIR TZ USER'.split(' ')
const windowsVariableNames =
  `APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA NUMBER_OF_PROCESSORS OS PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA
  PROGRAMFILES PROGRAMFILES(X86) SYSTEMDRIVE SYSTEMROOT TEMP TMP USERDOMAIN USERNAME USERPROFILE WINDIR`.split(/\s+/)

/**
 * A server gets `addedVariables`, and of ours only those with which programs find other programs and the user's home
 * folder. The rest may contain secrets.
 */
export function createEnvironment(
  addedVariables: Readonly<Record<string, string | undefined>>,
  { env, platform }: Pick<NodeJS.Process, 'env' | 'platform'> = process,
): Record<string, string> {
  // Names of variables ignore case on Windows. Of two that differ in case alone, the process would get either value.
  const toVariableKey = (name: string): string => (platform === 'win32' ? name.toUpperCase() : name)
  const inheritedNames = new Set(platform === 'win32' ? windowsVariableNames : posixVariableNames)
  const variables = new Map<string, readonly [name: string, value: string | undefined]>()
  for (const [name, value] of Object.entries(env)) {
    if (inheritedNames.has(toVariableKey(name))) variables.set(toVariableKey(name), [name, value])
  }
  for (const [name, value] of Object.entries(addedVariables)) variables.set(toVariableKey(name), [name, value])
  const definedVariables = [...variables.values()].filter((entry): entry is [string, string] => entry[1] !== undefined)
  return Object.fromEntries(definedVariables)
}

export interface EndedProcess extends Omit<ProcessExit, 'expected'> {
  readonly firstOutput: string
  readonly lastOutput: string
  /** True if it had to be ended by a signal of `stop`. */
  readonly isForced: boolean
}

export interface ServerProcess {
  readonly pid: number | undefined
  readonly streams: StreamPair
  /** Resolves when the process has exited and its output was read. Never rejects. */
  readonly exitPromise: Promise<EndedProcess>
  /**
   * Ends the process and what it has started (basic/transports/stdio, shutdown): closes its stdin and waits at most
   * `graceMs`, then sends SIGTERM to all that still run, and SIGKILL after another `graceMs`. On Windows SIGTERM
   * already ends them at once.
   */
  stop(graceMs: number): Promise<void>
  /** Sends SIGKILL to the process and what it has started. */
  kill(): void
}

/** For so many milliseconds after the exit, a grandchild may keep a pipe open. */
const pipeCloseTimeoutMs = 500

/** No shell is involved. Rejects with {@link StdioError} `spawn` if the program cannot be started. */
export async function startProcess(
  options: StdioConnectOptions,
  { clock, onError }: Pick<ConnectionSettings, 'clock' | 'onError'>,
): Promise<ServerProcess> {
  const child = await spawnChild(options, await selectSpawner(process.platform))
  const isLeader = isGroupLeader(options)
  const stopForwarding = isLeader && child.pid !== undefined ? forwardSignals(child.pid) : undefined
  // From here on another process may get this id, and must not get our signals.
  child.once('exit', () => stopForwarding?.())
  const { stdin, stdout, stderr } = child
  if (stdin === null || stdout === null) throw new StdioError('spawn', `${options.command} has no stdin and stdout`)
  const getStderr =
    stderr === null
      ? () => ({ stderr: '', firstOutput: '', lastOutput: '' })
      : readStderr(stderr, options.stderr, onError)
  let isForced = false
  const exitPromise = awaitExit(child, getStderr, clock).then((exit) => ({ ...exit, isForced }))
  const tree = createProcessTree(child, isLeader)
  return {
    pid: child.pid,
    streams: { input: stdout, output: stdin },
    exitPromise,
    stop: async (graceMs) => {
      stdin.end()
      if (!(await settlesWithin(exitPromise, graceMs, clock))) isForced = true
      tree.kill('SIGTERM')
      if (!(await tree.waitForEnd(graceMs, clock))) tree.kill('SIGKILL')
      await exitPromise
    },
    kill: () => tree.kill('SIGKILL'),
  }
}

/** Only on POSIX: the leader of a group can be ended with its children. */
function isGroupLeader({ processGroup = true }: StdioConnectOptions): boolean {
  return processGroup && process.platform !== 'win32'
}

function spawnChild(options: StdioConnectOptions, { spawn, limitation }: Spawner): Promise<ChildProcess> {
  const { command, args = [], env = {}, cwd, stderr } = options
  return new Promise((resolve, reject) => {
    const rejectSpawn = (cause: unknown): void => {
      const spawnErrorMessage =
        limitation === undefined
          ? describeSpawnFailure(command, cause)
          : `${describeSpawnFailure(command, cause)}; ${limitation}`
      reject(new StdioError('spawn', spawnErrorMessage, { cause }))
    }
    try {
      const child = spawn(command, [...args], {
        stdio: ['pipe', 'pipe', stderr === 'inherit' ? 'inherit' : 'pipe'],
        env: createEnvironment(env),
        cwd,
        shell: false,
        windowsHide: true,
        detached: isGroupLeader(options),
      })
      // Never removed, because an error of `kill` is reported here too.
      child.on('error', rejectSpawn)
      child.once('spawn', () => resolve(child))
    } catch (error) {
      rejectSpawn(error)
    }
  })
}

function describeSpawnFailure(command: string, cause: unknown): string {
  const code = codeOf(cause)
  if (code === 'ENOENT') return `${command} cannot be started: the program or the working directory does not exist`
  if (code === 'EACCES') return `${command} cannot be started: it is not executable`
  return `${command} cannot be started: ${messageOf(cause)}`
}

async function awaitExit(
  child: ChildProcess,
  getStderr: ReturnType<typeof readStderr>,
  clock: Clock,
): Promise<Omit<EndedProcess, 'isForced'>> {
  const { stdin, stdout, stderr } = child
  const pipeClosePromise = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const [exitCode, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.once('exit', (...exit) => resolve(exit))
  })
  await settlesWithin(pipeClosePromise, pipeCloseTimeoutMs, clock)
  for (const pipe of [stdout, stdin, stderr]) pipe?.destroy()
  return {
    pid: child.pid,
    exitCode: exitCode ?? undefined,
    signal: signal ?? undefined,
    ...getStderr(),
  }
}

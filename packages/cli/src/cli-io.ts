import type { Readable, Writable } from 'node:stream'
import { keepProcessWithoutStderr } from '@x/core'
import { endBySignal, onStopSignal } from '@x/core/node'

/** Streams and environment of the process, as a command uses them. */
export interface CliIo {
  readonly input: Readable & { readonly isTTY?: boolean | undefined }
  readonly output: Writable & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined }
  readonly errorOutput: Writable
  readonly env: Readonly<Record<string, string | undefined>>
  /**
   * Aborts at Ctrl-C and SIGTERM; a second one ends the process. So does the first one as long as the command has not
   * read this.
   */
  readonly signal: AbortSignal
}

/** The process as a command uses it. */
export interface ProcessIo extends CliIo {
  /** Ends the process by the signal that has stopped the command, if one has: a shell then ends its script too. */
  endIfStopped(): void
}

export function openProcessIo(): ProcessIo {
  // A reader such as `head` closes the pipe when it has read enough.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
  keepProcessWithoutStderr()
  const { stdin, stdout, stderr, env } = process
  let stop: StopListener | undefined
  return {
    input: stdin,
    output: stdout,
    errorOutput: stderr,
    env,
    get signal() {
      stop ??= listenForStop()
      return stop.signal
    },
    endIfStopped: () => stop?.endIfStopped(),
  }
}

type StopListener = Pick<ProcessIo, 'signal' | 'endIfStopped'>

/** A command that was stopped may leave open what would keep the process alive. */
const lastWorkMs = 500

function listenForStop(): StopListener {
  const controller = new AbortController()
  let endProcess = (): void => {}
  const ignoreSignals = onStopSignal((name) => {
    const end = (): void => {
      ignoreSignals()
      endBySignal(name)
    }
    endProcess = () => {
      // What has begun is done first, such as noting that a login was given up.
      process.once('beforeExit', end)
      setTimeout(end, lastWorkMs).unref()
    }
    controller.abort(new Error(`Stopped by ${name}`))
  })
  return { signal: controller.signal, endIfStopped: () => endProcess() }
}

/**
 * The output may have colours if it is a terminal, and neither `NO_COLOR` nor the terminal forbids them. `FORCE_COLOR`
 * allows them anywhere (no-color.org, force-color.org).
 */
export function hasColors({ output, env }: Pick<CliIo, 'output' | 'env'>): boolean {
  if (isSet(env['NO_COLOR'])) return false
  if (isSet(env['FORCE_COLOR'])) return env['FORCE_COLOR'] !== '0'
  return output.isTTY === true && env['TERM'] !== 'dumb'
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== ''
}

/** In columns. Undefined if the output is no terminal, so that no line is shortened. */
export function widthOf({ output }: Pick<CliIo, 'output'>): number | undefined {
  return output.isTTY === true && output.columns !== undefined && output.columns > 0 ? output.columns : undefined
}

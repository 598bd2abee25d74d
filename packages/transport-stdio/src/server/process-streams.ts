import type { Readable, Writable } from 'node:stream'
import { keepProcessWithoutStderr } from '@x/core'

/** Access to the streams of the process while the protocol uses them. */
export interface ProcessStreams {
  readonly input: Readable
  readonly output: Writable
  /** Writes to stdout. Any other output to stdout is redirected to stderr until `release` is called. */
  readonly send: (text: string, onDone: () => void) => boolean
  /** Ends the redirection, and lets the process exit. */
  release(): void
}

/** The parameters of a stream's `write`. */
type WriteArguments = [
  chunk: string | Uint8Array,
  encoding?: BufferEncoding | ((error?: Error | null) => void),
  done?: (error?: Error | null) => void,
]

let areStreamsTaken = false

/**
 * Reserves stdin and stdout for the protocol, because stdout may contain only messages (basic/transports/stdio). Until
 * `release` is called, all other output to stdout, such as `console.log`, is written to stderr.
 *
 * @throws Error if they are already reserved.
 */
export function acquireProcessStreams(): ProcessStreams {
  if (areStreamsTaken)
    throw new Error('stdin and stdout are already in use: close that service first, or pass other streams')
  areStreamsTaken = true
  const { stdin, stdout, stderr } = process
  const originalWrite = stdout.write
  // If the client has exited, writing to stderr fails. This error must not end the process while it shuts down.
  keepProcessWithoutStderr()
  stdout.write = (...[chunk, encoding, done]: WriteArguments): boolean => {
    if (typeof encoding === 'string') stderr.write(chunk, encoding, done)
    else stderr.write(chunk, encoding)
    // A pipe into stdout would otherwise wait for a `drain` event of stdout, which never occurs.
    return true
  }
  const release = (): void => {
    areStreamsTaken = false
    stdout.write = originalWrite
    // A paused stdin does not keep the process alive. If stdin is a file, it has no `unref` and never keeps the process
    // alive.
    stdin.pause()
    if (typeof stdin.unref === 'function') stdin.unref()
  }
  return {
    input: stdin,
    output: stdout,
    send: (text, onDone) => originalWrite.call(stdout, text, 'utf8', onDone),
    release,
  }
}

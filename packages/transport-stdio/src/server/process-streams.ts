import type { Readable, Writable } from 'node:stream'

/** The process's own streams while the protocol uses them. */
export interface ProcessStreams {
  readonly input: Readable
  readonly output: Writable
  /** Writes to stdout. Other writes to stdout go to stderr meanwhile. */
  readonly send: (text: string, onDone: () => void) => boolean
  /** Releases the streams. */
  release(): void
}

/** The arguments of a stream's `write`. */
type WriteArguments = [
  chunk: string | Uint8Array,
  encoding?: BufferEncoding | ((error?: Error | null) => void),
  done?: (error?: Error | null) => void,
]

let areStreamsTaken = false

/**
 * Acquires stdin and stdout. Other output of handlers and libraries, through `console.log` or stdout, goes to stderr
 * until they are released: stdout carries only messages (basic/transports/stdio).
 *
 * @throws Error when they are already acquired.
 */
export function acquireProcessStreams(): ProcessStreams {
  if (areStreamsTaken)
    throw new Error('stdin and stdout are already in use: close that service first, or pass other streams')
  areStreamsTaken = true
  const { stdin, stdout, stderr } = process
  const originalWrite = stdout.write
  // A client that has exited reads no stderr either. That error must not end the process during its shutdown.
  stderr.on('error', ignoreStderrError)
  stdout.write = (...[chunk, encoding, done]: WriteArguments): boolean => {
    if (typeof encoding === 'string') stderr.write(chunk, encoding, done)
    else stderr.write(chunk, encoding)
    // A pipe into stdout would wait for its drain event, which stderr does not give.
    return true
  }
  const release = (): void => {
    areStreamsTaken = false
    stdout.write = originalWrite
    stderr.off('error', ignoreStderrError)
    // A paused stdin no longer keeps the process alive. Stdin of a file has no handle, and never does.
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

function ignoreStderrError(): void {}

import { keepProcessWithoutStderr } from '@x/core'
import type { StreamPair } from '../close-streams.ts'

type WriteArguments = [
  chunk: string | Uint8Array,
  encoding?: BufferEncoding | ((error?: Error | null) => void),
  done?: (error?: Error | null) => void,
]

let areStreamsTaken = false

/**
 * Reserves stdin and stdout for the protocol: stdout may contain only messages (basic/transports/stdio), so until
 * `release` everything else that is written there, such as by `console.log`, goes to stderr. `send` writes to stdout,
 * and `release` also lets the process exit.
 *
 * @throws Error if they are already reserved.
 */
export function acquireProcessStreams(): StreamPair & {
  readonly send: (text: string, onDone: () => void) => boolean
  release(): void
} {
  if (areStreamsTaken)
    throw new Error('stdin and stdout are already in use: close that service first, or pass other streams')
  areStreamsTaken = true
  const { stdin, stdout, stderr } = process
  const originalWrite = stdout.write
  // Once the client has exited, writing to stderr fails. That must not end the process while it shuts down.
  keepProcessWithoutStderr()
  stdout.write = (...[chunk, encoding, done]: WriteArguments): boolean => {
    if (typeof encoding === 'string') stderr.write(chunk, encoding, done)
    else stderr.write(chunk, encoding)
    // Otherwise a pipe into stdout waits for a `drain` event that never comes.
    return true
  }
  const release = (): void => {
    areStreamsTaken = false
    stdout.write = originalWrite
    // A paused stdin does not keep the process alive. A file as stdin never does, and has no `unref`.
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

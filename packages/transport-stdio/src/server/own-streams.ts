import type { Readable, Writable } from 'node:stream'

/** The process's own streams while they belong to the protocol. */
export interface OwnStreams {
  readonly input: Readable
  readonly output: Writable
  /** Writes to stdout; everybody else's writing goes to stderr meanwhile. */
  readonly send: (text: string, done: () => void) => boolean
  /** Gives the streams back. */
  release(): void
}

/** What `write` of a stream may be called with. */
type WriteArguments = [
  chunk: string | Uint8Array,
  encoding?: BufferEncoding | ((error?: Error | null) => void),
  done?: (error?: Error | null) => void,
]

let taken = false

/**
 * Takes stdin and stdout. What a handler or a library prints, with `console.log` or straight to stdout, goes to stderr
 * until they are released: stdout holds nothing but messages (basic/transports/stdio).
 *
 * @throws Error when they are taken already.
 */
export function takeOwnStreams(): OwnStreams {
  if (taken)
    throw new Error('stdin and stdout are served already: close that service first, or give streams of their own')
  taken = true
  const { stdin, stdout, stderr } = process
  const write = stdout.write
  // Who has gone reads no stderr either; that must not end the process in the middle of stopping.
  stderr.on('error', ignore)
  stdout.write = (...[chunk, encoding, done]: WriteArguments): boolean => {
    if (typeof encoding === 'string') stderr.write(chunk, encoding, done)
    else stderr.write(chunk, encoding)
    // A pipe into stdout would wait for it to drain, which says nothing of stderr.
    return true
  }
  const release = (): void => {
    taken = false
    stdout.write = write
    stderr.off('error', ignore)
    // Read no further, stdin no longer keeps the process. A file has no handle that would.
    stdin.pause()
    if (typeof stdin.unref === 'function') stdin.unref()
  }
  return { input: stdin, output: stdout, send: (text, done) => write.call(stdout, text, 'utf8', done), release }
}

function ignore(): void {}

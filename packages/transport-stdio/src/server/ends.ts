import { offAbort, onAbort } from '@x/schema'
import { closeStreams, type StreamPair } from '../close-streams.ts'
import { exitSoon } from './exit.ts'
import type { ServeStdioOptions, Settings } from './options.ts'
import { takeOwnStreams } from './own-streams.ts'
import { onStopSignal } from './stop-signals.ts'

/** The streams of a service, and what else can end it. */
export interface Ends extends StreamPair {
  /** How to write, where that is not the output's own `write`. */
  readonly send?: ((text: string, done: () => void) => boolean) | undefined
  /** Tells when somebody wants the service to stop, later than this call, until the returned function is called. */
  watch(stop: (reason: string) => void): () => void
  /** Ends the streams that were given, gives back the process's own, and lets the process end where that is wanted. */
  close(): Promise<void>
}

/** @throws TypeError when one stream of two was given, and Error when stdin and stdout are served already. */
export function openEnds(options: ServeStdioOptions, settings: Settings): Ends {
  const { input, output } = options
  if (input !== undefined && output !== undefined) return givenEnds({ input, output }, options, settings)
  if (input === undefined && output === undefined) return ownEnds(options)
  throw new TypeError('Give both input and output, or none of them for stdin and stdout')
}

function givenEnds(streams: StreamPair, { signal, exit = false }: ServeStdioOptions, settings: Settings): Ends {
  const close = async (): Promise<void> => {
    await closeStreams(streams, settings.graceMs, settings.clock)
    if (exit) exitSoon()
  }
  return { ...streams, watch: (stop) => watchSignal(signal, stop), close }
}

function ownEnds({ signal, exit = true }: ServeStdioOptions): Ends {
  const { release, ...streams } = takeOwnStreams()
  const watch: Ends['watch'] = (stop) => {
    const ignoreSignal = watchSignal(signal, stop)
    const ignoreProcess = onStopSignal((name) => stop(`The process received ${name}`))
    return () => {
      ignoreSignal()
      ignoreProcess()
    }
  }
  const close = (): Promise<void> => {
    release()
    if (exit) exitSoon()
    return Promise.resolve()
  }
  return { ...streams, watch, close }
}

function watchSignal(signal: AbortSignal | undefined, stop: (reason: string) => void): () => void {
  const aborted = (): void => stop('The server is stopping')
  if (signal?.aborted) queueMicrotask(aborted)
  else if (signal) onAbort(signal, aborted)
  return () => signal && offAbort(signal, aborted)
}

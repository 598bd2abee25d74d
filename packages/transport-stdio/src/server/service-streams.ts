import { onCancel, offCancel } from '@x/core'
import { onStopSignal } from '@x/core/node'
import { closeStreams, type StreamPair } from '../close-streams.ts'
import type { ServeStdioOptions, ServiceSettings } from './options.ts'
import { acquireProcessStreams } from './process-streams.ts'

const exitDelayMs = 1000

/**
 * Lets the process exit, and forces it after `exitDelayMs`: an open connection of a handler would keep it alive without
 * a client.
 */
function scheduleExit(): void {
  // oxlint-disable-next-line no-restricted-globals -- ends the process if it does not end by itself
  setTimeout(() => process.exit(), exitDelayMs).unref()
}

/** A service's streams, and the events that end it. */
export interface ServiceStreams extends StreamPair {
  /** Replaces `write` of the output. */
  readonly send?: ((text: string, done: () => void) => boolean) | undefined
  /** Calls `stop` in a later tick. The returned function removes the listeners. */
  onStopSignal(stop: (reason: string) => void): () => void
  /** Ends the streams, or releases stdin and stdout. Lets the process exit if the options ask for that. */
  close(): Promise<void>
}

/** @throws TypeError if only one stream was set, and Error if stdin and stdout are already in use. */
export function openServiceStreams(options: ServeStdioOptions, settings: ServiceSettings): ServiceStreams {
  const { input, output } = options
  if (input !== undefined && output !== undefined) return useGivenStreams({ input, output }, options, settings)
  if (input === undefined && output === undefined) return useProcessStreams(options)
  throw new TypeError('Give both input and output, or neither for stdin and stdout')
}

function useGivenStreams(
  streams: StreamPair,
  { signal, exit = false }: ServeStdioOptions,
  settings: ServiceSettings,
): ServiceStreams {
  const close = async (): Promise<void> => {
    await closeStreams(streams, settings.graceMs, settings.clock)
    if (exit) scheduleExit()
  }
  return { ...streams, onStopSignal: (stop) => onAbortSignal(signal, stop), close }
}

function useProcessStreams({ signal, exit = true }: ServeStdioOptions): ServiceStreams {
  const { release, ...streams } = acquireProcessStreams()
  const watchStopSignals: ServiceStreams['onStopSignal'] = (stop) => {
    const ignoreSignal = onAbortSignal(signal, stop)
    const ignoreProcessSignals = onStopSignal((name) => stop(`The process received ${name}`))
    return () => {
      ignoreSignal()
      // A process that exits next ends what it has started by then: a host that gets impatient must not prevent that.
      if (!exit) ignoreProcessSignals()
    }
  }
  const close = (): Promise<void> => {
    release()
    if (exit) scheduleExit()
    return Promise.resolve()
  }
  return { ...streams, onStopSignal: watchStopSignals, close }
}

function onAbortSignal(signal: AbortSignal | undefined, stop: (reason: string) => void): () => void {
  const onAborted = (): void => stop('The server is stopping')
  if (signal?.aborted) queueMicrotask(onAborted)
  else if (signal) onCancel(signal, onAborted)
  return () => signal && offCancel(signal, onAborted)
}

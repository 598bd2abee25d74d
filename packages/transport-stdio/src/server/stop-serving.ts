import { settlesWithin } from '@x/core'
import type { MessageWriter } from '../message-writer.ts'
import type { LineReader } from '../read-lines.ts'
import type { CallRegistry } from './call-registry.ts'
import type { ServiceStreams } from './service-streams.ts'
import type { ServiceSettings } from './options.ts'

/** The parts of a service. */
export interface StdioService {
  readonly intake: LineReader
  readonly calls: CallRegistry
  readonly writer: MessageWriter
  readonly streams: ServiceStreams
  readonly settings: ServiceSettings
}

/**
 * Ends a service: stops reading, asks running calls to stop, responds for the rest, releases the server, and closes the
 * streams.
 */
export async function stopServing(
  { intake, calls, writer, streams, settings }: StdioService,
  reason: unknown,
  releaseHost: () => Promise<void>,
): Promise<void> {
  const { graceMs, clock } = settings
  intake.stop()
  calls.stop(reason)
  await settlesWithin(calls.allFinished(), graceMs, clock)
  calls.rejectPending()
  // A reader that takes nothing must not delay the end.
  await settlesWithin(writer.flush(), graceMs, clock)
  // An extension that never closes must not keep the process: the server's own grace is as long as this service's.
  await settlesWithin(releaseHost(), 2 * graceMs, clock)
  await streams.close()
}

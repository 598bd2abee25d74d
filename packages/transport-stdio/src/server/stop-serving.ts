import type { MessageWriter } from '../message-writer.ts'
import type { Intake } from '../read-lines.ts'
import { within } from '../within.ts'
import type { Calls } from './calls.ts'
import type { Ends } from './ends.ts'
import type { Settings } from './options.ts'

/** What a service is made of. */
export interface Service {
  readonly intake: Intake
  readonly calls: Calls
  readonly writer: MessageWriter
  readonly ends: Ends
  readonly settings: Settings
}

/** Ends a service: reads no more, tells running calls to stop, answers for those that do not, and closes the streams. */
export async function stopServing({ intake, calls, writer, ends, settings }: Service, reason: unknown): Promise<void> {
  const { graceMs, clock } = settings
  intake.stop()
  calls.stop(reason)
  await within(calls.settled(), graceMs, clock)
  calls.giveUp()
  // A reader that takes nothing must not hold up the end.
  await within(writer.flush(), graceMs, clock)
  await ends.close()
}

import * as z from 'zod'
import { metricView, spanView } from '../telemetry/telemetry-view.ts'

const number = z.number()
const call = z.string().max(64)

const instanceMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('listening'), pid: number }),
  z.object({ kind: z.literal('load'), eventLoopDelayMs: number, running: number, isReady: z.boolean() }),
  z.object({ kind: z.literal('begin'), call, limit: number, next: number }),
  z.object({ kind: z.literal('work'), call, from: number, next: number }),
  z.object({ kind: z.literal('end'), call }),
  z.object({ kind: z.literal('paced'), chunks: number, busyMs: number }),
  z.object({ kind: z.literal('span'), span: spanView }),
  z.object({ kind: z.literal('metrics'), metrics: z.array(metricView).max(500).readonly() }),
])

const instanceCommand = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('throttle'), share: z.number().min(0).max(0.95) }),
  z.object({ kind: z.literal('shedding'), on: z.boolean() }),
])

/**
 * A report of an instance: that it listens, how it is doing, that a call began here, that numbers of a call from `from`
 * up to `next` have been looked at, that a call is here no more, how long its event loop was busy with so many paced
 * chunks, a span that has ended, and the values of its metrics.
 */
export type InstanceMessage = z.infer<typeof instanceMessage>

/** A command to an instance: the share of time to be blocked, and whether it sheds load. */
export type InstanceCommand = z.infer<typeof instanceCommand>

/** Reads what came from an instance; undefined for anything else. */
export function parseInstanceMessage(value: unknown): InstanceMessage | undefined {
  return instanceMessage.safeParse(value).data
}

/** Reads what came from the supervisor; undefined for anything else. */
export function parseInstanceCommand(value: unknown): InstanceCommand | undefined {
  return instanceCommand.safeParse(value).data
}

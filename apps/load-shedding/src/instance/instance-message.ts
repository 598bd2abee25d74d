import * as z from 'zod'

const number = z.number()
const call = z.string().max(64)

const instanceMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('listening'), pid: number }),
  z.object({ kind: z.literal('load'), eventLoopDelayMs: number, running: number, isReady: z.boolean() }),
  z.object({ kind: z.literal('begin'), call, limit: number, next: number }),
  z.object({ kind: z.literal('work'), call, from: number, next: number }),
  z.object({ kind: z.literal('end'), call }),
  z.object({ kind: z.literal('paced'), chunks: number, busyMs: number }),
])

const instanceCommand = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('throttle'), share: z.number().min(0).max(0.95) }),
  z.object({ kind: z.literal('shedding'), on: z.boolean() }),
])

/**
 * A message from an instance to the process that started it.
 * - `listening`: the instance listens.
 * - `load`: its load and its readiness.
 * - `begin`: the tool handler of a call starts here, at the number `next`.
 * - `work`: the call has counted the numbers from `from` up to, but without, `next`.
 * - `end`: the tool handler of the call has ended here, with a result or a hand-off.
 * - `paced`: the time for which the event loop was busy with a number of paced chunks.
 */
export type InstanceMessage = z.infer<typeof instanceMessage>

/**
 * A command to an instance. `throttle` blocks it for a share of the time; `shedding` switches load shedding on or off.
 */
export type InstanceCommand = z.infer<typeof instanceCommand>

/** Parses a message of an instance. Returns undefined for any other value. */
export function parseInstanceMessage(value: unknown): InstanceMessage | undefined {
  return instanceMessage.safeParse(value).data
}

/** Parses a command to an instance. Returns undefined for any other value. */
export function parseInstanceCommand(value: unknown): InstanceCommand | undefined {
  return instanceCommand.safeParse(value).data
}

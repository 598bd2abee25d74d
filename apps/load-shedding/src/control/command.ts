import * as z from 'zod'

const instance = z.number().int().min(1).max(8)

const command = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('overload'), instance, on: z.boolean() }),
  z.object({ kind: z.literal('kill'), instance }),
  z.object({ kind: z.literal('restart'), instance }),
  z.object({ kind: z.literal('restartAll') }),
  z.object({ kind: z.literal('shedding'), on: z.boolean() }),
  z.object({ kind: z.literal('burst') }),
  z.object({ kind: z.literal('level'), level: z.enum(['off', 'steady', 'heavy']) }),
])

/** A command of the page. */
export type Command = z.infer<typeof command>

/** Parses a command. Throws an `Error` that names the wrong member. */
export function parseCommand(value: unknown): Command {
  const parsed = command.safeParse(value)
  if (parsed.success) return parsed.data
  throw new Error(`This is not a command: ${z.prettifyError(parsed.error)}`)
}

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

/** The commands of the page. */
export type Command = z.infer<typeof command>

/** Reads a command; undefined for text that is none. */
export function parseCommand(text: string): Command | undefined {
  try {
    return command.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

import * as z from 'zod'

const instance = z.number().int().min(1).max(8)

const command = z.discriminatedUnion('do', [
  z.object({ do: z.literal('overload'), instance, on: z.boolean() }),
  z.object({ do: z.literal('kill'), instance }),
  z.object({ do: z.literal('restart'), instance }),
  z.object({ do: z.literal('roll') }),
  z.object({ do: z.literal('shedding'), on: z.boolean() }),
  z.object({ do: z.literal('burst') }),
  z.object({ do: z.literal('level'), level: z.enum(['off', 'steady', 'heavy']) }),
])

/** The commands of the page. */
export type Command = z.infer<typeof command>

/** Reads a command; undefined for text that is none. */
export function readCommand(text: string): Command | undefined {
  try {
    return command.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

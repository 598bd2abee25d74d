import { form, type LogRecord } from '@x/server'
import { z } from 'zod'

/** What an author sees: the error that is thrown, the log, and the text of the result. */
export type Act = (log: (record: LogRecord) => void) => unknown

/** Returns what the author sees of an act. */
export async function seen(act: Act): Promise<string> {
  const lines: string[] = []
  const add = (error: unknown): void => {
    for (let one = error; one instanceof Error; one = one.cause) lines.push(one.message)
  }
  try {
    await act(({ message, err }) => {
      lines.push(message)
      add(err)
    })
  } catch (error) {
    add(error)
  }
  return lines.join('\n')
}

export const description = 'd'
export const run = (): string => 'done'
export const info = { name: 'demo', version: '1.0.0' }
export const question = { message: 'Who?', schema: form(z.object({ name: z.string() })) }

/** Programs without types make most of the mistakes. */
export const untyped = (value: unknown): never => value as never
export const key = 'ac6fa73a35fc35ca26853e7b4719d159fb3cc4a6eafe00a33b27637f48e357b7'

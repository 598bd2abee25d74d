import type { NumberSchema, StringSchema } from '@x/schema'
import { z } from 'zod'

/** Describes the problem of a form field's input, for people; undefined when it is valid. */
export function fieldIssue(field: StringSchema | NumberSchema, typed: string): string | undefined {
  const checked = field.type === 'string' ? textOf(field).safeParse(typed) : numberOf(field).safeParse(numberIn(typed))
  return checked.success ? undefined : checked.error.issues[0]?.message
}

/** The number that was typed; `NaN` when it is none. An empty text would be 0. */
export function numberIn(typed: string): number {
  return typed.trim() === '' ? Number.NaN : Number(typed)
}

const formats = {
  date: z.iso.date('Write a date, such as 2026-07-28'),
  'date-time': z.iso.datetime({ offset: true, error: 'Write a time, such as 2026-07-28T12:00:00Z' }),
  email: z.email('Write an e-mail address, such as ada@example.com'),
  uri: z.url('Write a whole address, such as https://example.com/'),
} as const

function textOf({ format, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: StringSchema): z.ZodType<string> {
  const text: z.ZodType<string> = format === undefined ? z.string() : formats[format]
  // JSON Schema counts code points.
  return text
    .refine((value) => [...value].length >= minLength, `Write at least ${count(minLength, 'character')}`)
    .refine((value) => [...value].length <= maxLength, `Write at most ${count(maxLength, 'character')}`)
}

function numberOf({ type, minimum = -Infinity, maximum = Infinity }: NumberSchema): z.ZodType<number> {
  const wanted = type === 'integer' ? 'Write a whole number' : 'Write a number'
  return z
    .number(wanted)
    .refine((value) => type === 'number' || Number.isInteger(value), wanted)
    .refine((value) => value >= minimum, `Write a number from ${minimum}`)
    .refine((value) => value <= maximum, `Write a number up to ${maximum}`)
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}

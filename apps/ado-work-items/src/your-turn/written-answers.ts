import { readFileSync, statSync } from 'node:fs'
import type { ElicitRequestFormParams } from '@x/schema'
import * as z from 'zod'
import { UsageError } from '@apps/front/usage'
import type { Person } from './person.ts'

/** The file has no answer to a question. The message contains the keys. */
class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

const value = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])
const answers = z.record(z.string(), z.record(z.string(), value).nullable())
const maxBytes = 1024 * 1024
const example = '{"resolution": {"resolution": "Fixed"}, "duplicate_of": null}'

/**
 * Reads answers from a JSON file: the fields of the form for each question's key, or null to decline. Throws {@link
 * UsageError}.
 */
export function readAnswers(path: string): Person {
  return writtenAnswers(readText(path), path)
}

/** Parses answers from JSON text. Messages call the source `name`. Throws {@link UsageError}. */
export function writtenAnswers(text: string, name: string): Person {
  const written = new Map(Object.entries(parse(text, name)))
  const asked = new Set<string>()
  return {
    answer: async (key, question) => {
      asked.add(key)
      const content = written.get(key)
      if (content === undefined) throw new NoAnswer(describeMissing(key, question, { name, written }))
      return content === null ? { action: 'decline' } : { action: 'accept', content }
    },
    leftOver: () => {
      const unused = [...written.keys()].filter((key) => !asked.has(key))
      if (unused.length === 0) return undefined
      return `${name} answers ${listOf(unused)}, which was not asked; asked was ${listOf([...asked])}`
    },
  }
}

function readText(path: string): string {
  try {
    if (statSync(path).size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`)
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`--answers ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function parse(text: string, name: string): z.infer<typeof answers> {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new UsageError(
      `${name} is not JSON (${error instanceof Error ? error.message : String(error)}); write ${example}`,
    )
  }
  const parsed = answers.safeParse(json)
  if (parsed.success) return parsed.data
  const path = parsed.error.issues[0]?.path.join('.') || 'the whole'
  throw new UsageError(
    `${name} should have the fields of a form, or null, for each key, such as ${example}; see ${path}`,
  )
}

function describeMissing(
  key: string,
  { message, requestedSchema }: ElicitRequestFormParams,
  { name, written }: { readonly name: string; readonly written: ReadonlyMap<string, unknown> },
): string {
  const fields = listOf(Object.keys(requestedSchema.properties))
  return `${name} has no answer to "${key}" (${message}), a form with ${fields}; it answers ${listOf([...written.keys()])}`
}

function listOf(keys: readonly string[]): string {
  return keys.length === 0 ? 'nothing' : keys.map((key) => `"${key}"`).join(', ')
}

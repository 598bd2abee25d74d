import { readFile } from 'node:fs/promises'
import { codeOf, type JsonObject, parseJsonObject } from '@x/core'
import { CliError } from './cli-error.ts'

/** Throws a `CliError` that names the option. */
export function readJsonOption(name: string, text: string): JsonObject {
  const value = parseJsonObject(text)
  if (value === undefined) throw new CliError('usage', `--${name} is not a JSON object, such as '{"id":17}'`)
  return value
}

/** Reads `--answers`, which is an object, or the path of a file with one. */
export async function readAnswersOption(given: string): Promise<JsonObject> {
  const text = given.trimStart().startsWith('{') ? given : await readAnswersFile(given)
  const answers = parseJsonObject(text)
  if (answers !== undefined) return answers
  throw new CliError('usage', '--answers is not a JSON object, such as {"name":{"name":"Ada"}}')
}

function readAnswersFile(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new CliError(
      'usage',
      `${path} cannot be read (${codeOf(cause)}); give --answers a JSON object, such as {"name":{"name":"Ada"}}, or the path of a file with one`,
      { cause },
    )
  })
}

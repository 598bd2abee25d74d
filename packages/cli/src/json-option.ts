import { type JsonObject, parseJsonObject } from '@x/core'
import { CliError } from './cli-error.ts'

/** Throws a `CliError` that names the option. */
export function readJsonOption(name: string, text: string): JsonObject {
  const value = parseJsonObject(text)
  if (value === undefined) throw new CliError('usage', `--${name} is not a JSON object, such as '{"id":17}'`)
  return value
}

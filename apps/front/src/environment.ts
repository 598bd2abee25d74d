import { readFileSync } from 'node:fs'
import { sealedState } from '@x/server'
import * as z from 'zod'

/** The environment cannot be used as it is; the message names every variable that has to change. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}

/** The addresses of this machine, which no other machine can reach. */
const thisMachine = ['127.0.0.1', '::1', 'localhost']

/** The variables that every server of this repository has. */
export const serverVariables = {
  PORT: setting('a port from 0 to 65535', isWholeNumber(0, 65_535)),
  HOST: setting('an address to listen on, such as 0.0.0.0', (text) => !/[\s/]/.test(text)),
  ALLOWED_HOSTS: setting('host names with commas between them, such as mcp.example.com', (text) =>
    listIn(text).every((name) => name !== '' && !/[\s/]/.test(name)),
  ),
  STATE_KEYS: setting('keys with commas between them, each 32 random bytes as made by "openssl rand -hex 32"', isKeys),
  STATE_KEYS_FILE: setting('the path of a file with such keys, one a line, the newest first', isKeysFile),
}

type Shape = Readonly<Record<string, z.ZodOptional<z.ZodString>>>

/** The variables that an environment has to have. */
export interface RequiredVariables {
  readonly required: readonly string[]
  /** Returns the variables that others make necessary. */
  readonly impliedBy?: ((given: Readonly<Record<string, string | undefined>>) => readonly string[]) | undefined
}

/**
 * Reads variables from an environment, in which an empty variable counts as absent. `STATE_KEYS` has the keys of
 * `STATE_KEYS_FILE` if that is set.
 *
 * @throws ConfigurationError with all problems at once. It shows no value, since some of them are secrets.
 */
export function readVariables<S extends Shape>(
  shape: S,
  environment: NodeJS.ProcessEnv,
  { required, impliedBy = () => [] }: RequiredVariables,
): z.infer<z.ZodObject<S>> {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const parsed = z.object(shape).safeParse(given)
  const needed = [...required, ...hostsOf(given), ...impliedBy(given)]
  const isGiven = (name: string): boolean =>
    given[name] !== undefined || (name === 'STATE_KEYS' && given['STATE_KEYS_FILE'] !== undefined)
  const problems = [
    ...[...new Set(needed)]
      .filter((name) => !isGiven(name))
      .map((name) => `${name} is not set: it should be ${shape[name]?.description}`),
    ...(given['STATE_KEYS'] !== undefined && given['STATE_KEYS_FILE'] !== undefined
      ? ['STATE_KEYS and STATE_KEYS_FILE are both set: set one of them']
      : []),
    ...(parsed.error?.issues ?? []).map(({ path, message }) => `${path.join('.')} cannot be used: ${message}`),
  ]
  if (problems.length > 0 || !parsed.success) throw new ConfigurationError(problems.join('\n'))
  const file = given['STATE_KEYS_FILE']
  return file === undefined ? parsed.data : { ...parsed.data, STATE_KEYS: keysIn(file).join(',') }
}

/** An address that others can reach needs the names by which they call it. */
function hostsOf(given: Readonly<Record<string, string | undefined>>): readonly string[] {
  return thisMachine.includes(given['HOST'] ?? '127.0.0.1') ? [] : ['ALLOWED_HOSTS']
}

/** A variable, with what it should be; the check says whether it is, or what is wrong with it. */
export function setting(what: string, check: (text: string) => boolean | string): z.ZodOptional<z.ZodString> {
  return z
    .string()
    .superRefine((text, context) => {
      const outcome = check(text)
      if (outcome !== true) context.addIssue(outcome === false ? `it should be ${what}` : outcome)
    })
    .optional()
    .describe(what)
}

/** Returns a check that a text is a whole number. */
export function isWholeNumber(least: number, most: number): (text: string) => boolean {
  return (text) => /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most
}

/** Returns the entries of a list with commas between them. */
export function listIn(text: string): readonly string[] {
  return text.split(',').map((one) => one.trim())
}

function isKeys(text: string): true | string {
  return findKeysProblem(() => listIn(text)) ?? true
}

function isKeysFile(path: string): true | string {
  return findKeysProblem(() => keysIn(path)) ?? true
}

function findKeysProblem(readKeys: () => readonly string[]): string | undefined {
  try {
    sealedState({ keys: [...readKeys()] })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function keysIn(path: string): readonly string[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.map((line) => line.trim()).filter((line) => line !== '')
}

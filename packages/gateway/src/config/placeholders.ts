import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, resolve, sep } from 'node:path'
import { parseEnv } from 'node:util'
import { codeOf } from '@x/core'

/** A value that the user gives, as VS Code describes it in `inputs`. */
export interface ServersFileInput {
  readonly id: string
  readonly description: string | undefined
  /** True for a secret, which no screen shows. */
  readonly password: boolean
  /** The value that the user most likely chooses. */
  readonly default: string | undefined
  /** Choices of the user. Undefined if any value is allowed. */
  readonly options: readonly string[] | undefined
}

/** The values of placeholders, and the problems that were found. */
export interface Placeholders {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workspaceFolder: string
  readonly input: ((input: ServersFileInput) => string | Promise<string>) | undefined
  readonly inputs: readonly ServersFileInput[]
  readonly problems: string[]
  /** The user's answers. Each input is asked for once. */
  readonly answers: Map<string, Promise<string>>
}

/**
 * `${NAME}` and `${NAME:-default}` of Claude Code, `${env:NAME}`, `${input:ID}` and `${userHome}` of VS Code and
 * Cursor.
 */
const placeholder = /\$\{([^{}]{1,200})\}/g

/** Replaces the placeholders in a text of a file. A value that contains one is not expanded again. */
export async function expandPlaceholders(text: string, place: string, values: Placeholders): Promise<string> {
  let expanded = ''
  let end = 0
  for (const { 0: whole, 1: name = '', index } of text.matchAll(placeholder)) {
    expanded += text.slice(end, index) + (await valueOf(name, place, values))
    end = index + whole.length
  }
  return expanded + text.slice(end)
}

async function valueOf(name: string, place: string, values: Placeholders): Promise<string> {
  const { workspaceFolder } = values
  const folders: Readonly<Record<string, string>> = {
    workspaceFolder,
    workspaceFolderBasename: basename(workspaceFolder),
    userHome: homedir(),
    pathSeparator: sep,
    '/': sep,
  }
  if (Object.hasOwn(folders, name)) return folders[name] ?? ''
  const [, kind = 'env', rest = ''] = /^(?:(env|input):)?(.*)$/.exec(name) ?? []
  return kind === 'input' ? askFor(rest, place, values) : requireVariable(rest, place, values)
}

function requireVariable(text: string, place: string, values: Placeholders): string {
  const [, variable, fallback] = /^([A-Za-z_]\w*)(?::-(.*))?$/.exec(text) ?? []
  const value = variable === undefined ? undefined : (readVariable(variable, values) ?? fallback)
  if (value !== undefined) return value
  const known = '${NAME}, ${env:NAME}, ${input:ID}, ${workspaceFolder} and ${userHome}'
  const problem =
    variable === undefined ? `\${${text}} is not known, as ${known} are` : `the variable ${variable} is not set`
  values.problems.push(`${place}: ${problem}`)
  return ''
}

function readVariable(name: string, { environment }: Placeholders): string | undefined {
  return Object.hasOwn(environment, name) ? environment[name] : undefined
}

async function askFor(id: string, place: string, { input, inputs, problems, answers }: Placeholders): Promise<string> {
  const described = inputs.find((each) => each.id === id)
  if (described === undefined || input === undefined) {
    const remedy = described === undefined ? 'inputs has no such id' : 'give readServersFile the option input'
    problems.push(`${place}: the value of \${input:${id}} is not known: ${remedy}`)
    return ''
  }
  const answer = answers.get(id) ?? Promise.resolve(input(described))
  answers.set(id, answer)
  return answer
}

/** Reads a command's variables from a file of lines `NAME=value`. */
export async function readEnvFile(
  path: string,
  name: string,
  { workspaceFolder, problems }: Placeholders,
): Promise<Readonly<Record<string, string | undefined>>> {
  try {
    return parseEnv(await readFile(resolve(workspaceFolder, path), 'utf8'))
  } catch (error) {
    problems.push(`${name}.envFile: the file ${path} cannot be read (${codeOf(error) ?? 'an error'})`)
    return {}
  }
}

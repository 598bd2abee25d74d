import { CliError } from '../cli-error.ts'

/** The command that starts a server. */
export interface Program {
  readonly command: string
  readonly args: readonly string[]
}

/** A server that a command uses. */
export type ServerTarget = URL | Program

/** A text in quotes is part of its word, as in a shell. */
const quoted = /"([^"]*)"|'([^']*)'/g
const word = /(?:"[^"]*"|'[^']*'|\S)+/g

/** Parses a URL, or a command line whose words may have quotes, such as `npx -y "my server"` and `env NAME="a b" run`. */
export function parseTargetText(text: string): ServerTarget {
  if (/^https?:\/\//i.test(text)) {
    if (URL.canParse(text)) return new URL(text)
    throw new CliError('usage', `"${text}" is not a URL`)
  }
  const words = text.match(word) ?? []
  const [command, ...args] = words.map((each) =>
    each.replaceAll(quoted, (_, double?: string, single?: string) => double ?? single ?? ''),
  )
  if (command === undefined) throw new CliError('usage', 'Write the URL of a server, or the command that starts it')
  return { command, args }
}

const targetCommands: ReadonlySet<string> = new Set(['list', 'call', 'dev', 'doctor', 'bridge'])

/**
 * Makes one target of the words after `--`, before the other arguments. The shell has separated them already, so they
 * need no quotes.
 */
export function joinTargetWords(args: readonly string[]): readonly string[] {
  const [name = '', ...others] = args
  const end = others.indexOf('--')
  if (!targetCommands.has(name) || end === -1) return args
  const words = others.slice(end + 1)
  const [only = ''] = words
  const isPlain = words.length === 1 && !/[\s"']/.test(only)
  const target = isPlain ? only : words.map(quoteWord).join(' ')
  return [name, target, ...others.slice(0, end)]
}

function quoteWord(word: string): string {
  if (!word.includes('"')) return `"${word}"`
  if (!word.includes("'")) return `'${word}'`
  throw new CliError('usage', `A word after -- has both kinds of quotes: ${word}`)
}

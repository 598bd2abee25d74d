import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { CliError } from '../../cli-error.ts'
import { parseTargetText, type Program } from '../../calls/target.ts'
import { moduleProgram } from './module-program.ts'

/** What is developed: a program of this machine, or a server that runs elsewhere. */
export type DevTarget =
  | { readonly kind: 'url'; readonly url: URL; readonly text: string }
  | (Program & { readonly kind: 'command'; readonly text: string })
  /** A module that exports its server. Several processes serve it over HTTP. */
  | (Program & { readonly kind: 'module'; readonly path: string; readonly text: string })

/** A URL, the path of a module, or a command. */
export function parseDevTarget(text: string, cwd: string): DevTarget {
  const target = parseTargetText(text)
  if (target instanceof URL) return { kind: 'url', url: target, text: target.href }
  const path = resolve(cwd, target.command)
  const isModule = target.args.length === 0 && isSource(target.command)
  if (isModule && !existsSync(path))
    throw new CliError(
      'usage',
      `${target.command} does not exist: is it built? A command needs its program, such as "node …"`,
    )
  if (isModule) return { kind: 'module', path, ...moduleProgram(path), text }
  return { kind: 'command', ...target, text }
}

/**
 * Changes in these folders restart the server: those that the user names, or those of the files in the command line, or
 * else `src`. A server that runs elsewhere has none.
 */
export function watchedFolders(target: DevTarget, named: readonly string[], cwd: string): readonly string[] {
  if (target.kind === 'url') {
    if (named.length > 0) throw new CliError('usage', '--watch is for a server that is a program, and not a URL')
    return []
  }
  const missing = named.find((path) => !existsSync(resolve(cwd, path)))
  if (missing !== undefined) throw new CliError('usage', `--watch names ${missing}, which does not exist`)
  if (named.length > 0) return named.map((path) => resolve(cwd, path))
  const words = target.kind === 'module' ? [target.path] : target.args
  const files = words.filter((word) => !word.startsWith('-') && isSource(word))
  const folders = files.map((file) => dirname(resolve(cwd, file))).filter((folder) => existsSync(folder))
  if (folders.length > 0) return [...new Set(folders)]
  const source = resolve(cwd, 'src')
  return existsSync(source) ? [source] : []
}

/** Says what to do if the output of a server says that its port is in use. The rest of the output is a stack then. */
export function findPortAdvice({ text }: DevTarget, output: Iterable<string>): string | undefined {
  for (const line of output) {
    const [, before, after] = /:(\d{1,5}) is in use|EADDRINUSE.*:(\d{1,5})\b/.exec(line) ?? []
    const port = before ?? after
    if (port !== undefined)
      return `port ${port} is in use. Stop what listens there, or give the server another port. If it reads the variable PORT, this starts it: PORT=${Number(port) + 1} npx mcpx dev ${quoteForShell(text)}`
  }
  return undefined
}

function quoteForShell(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

function isSource(word: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(word)
}

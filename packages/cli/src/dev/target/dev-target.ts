import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { CliError } from '../../cli-error.ts'
import { parseTargetText } from '../../calls/target.ts'

/** The server to develop: a program of this machine, or a server that runs elsewhere. */
export type DevTarget =
  | { readonly kind: 'url'; readonly url: URL; readonly text: string }
  | { readonly kind: 'command'; readonly command: string; readonly args: readonly string[]; readonly text: string }

/** Parses the target of the command line: a URL, or a command. */
export function parseDevTarget(text: string): DevTarget {
  const target = parseTargetText(text)
  if (target instanceof URL) return { kind: 'url', url: target, text: target.href }
  return { kind: 'command', ...target, text }
}

/**
 * Returns the folders whose changes restart the server: those that the user names, or those of the files in the command
 * line. Without such files it is `src`. A server that runs elsewhere has none.
 */
export function watchedFolders(target: DevTarget, named: readonly string[], cwd: string): readonly string[] {
  if (target.kind === 'url') {
    if (named.length > 0) throw new CliError('usage', '--watch is for a server that is a command, and not a URL')
    return []
  }
  const missing = named.find((path) => !existsSync(resolve(cwd, path)))
  if (missing !== undefined) throw new CliError('usage', `--watch names ${missing}, which does not exist`)
  if (named.length > 0) return named.map((path) => resolve(cwd, path))
  const files = target.args.filter((word) => !word.startsWith('-') && /\.[cm]?[jt]sx?$/.test(word))
  const folders = files.map((file) => dirname(resolve(cwd, file))).filter((folder) => existsSync(folder))
  if (folders.length > 0) return [...new Set(folders)]
  const source = resolve(cwd, 'src')
  return existsSync(source) ? [source] : []
}

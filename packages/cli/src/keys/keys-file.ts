import { readFile, rename, writeFile } from 'node:fs/promises'
import type { KeyInput } from '@x/state-codec'
import { CliError } from '../cli-error.ts'

const maxFileBytes = 65_536

/** A key of a file: its line, and the key as a codec takes it. */
export interface FileKey {
  readonly line: string
  readonly input: KeyInput
}

/**
 * Reads the keys of a file. Keys are separated by line breaks or commas, as in an environment variable. `id:key` names a
 * key. Lines that begin with `#` are comments.
 *
 * @throws CliError if the file cannot be read or has no keys.
 */
export async function readKeysFile(path: string): Promise<readonly FileKey[]> {
  const text = await readFile(path, 'utf8').catch((cause: Error) => {
    throw new CliError('usage', `The keys file cannot be read: ${cause.message}`, { cause })
  })
  if (text.length > maxFileBytes) throw new CliError('usage', `${path} is larger than a file of keys`)
  const keys = text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ line, input: parseLine(line) }))
  if (keys.length === 0)
    throw new CliError('usage', `${path} has no keys; make a file with: mcpx keys new --keys-file FILE`)
  return keys
}

function parseLine(line: string): KeyInput {
  const colon = line.indexOf(':')
  return colon === -1 ? line : { id: line.slice(0, colon).trim(), key: line.slice(colon + 1).trim() }
}

/** Creates a file of keys that only its owner can read. Rejects with `EEXIST` if the file exists. */
export async function createKeysFile(path: string, lines: readonly string[]): Promise<void> {
  await writeFile(path, `${lines.join('\n')}\n`, { mode: 0o600, flag: 'wx' }).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'EEXIST' ? `${path} exists; a key is never overwritten` : cause.message
    throw new CliError('failure', reason, { cause })
  })
}

/** Replaces a file of keys in one step, so that no reader sees half of it. */
export async function replaceKeysFile(path: string, lines: readonly string[]): Promise<void> {
  const newPath = `${path}.new`
  await createKeysFile(newPath, lines)
  await rename(newPath, path)
}

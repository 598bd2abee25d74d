import { readFile } from 'node:fs/promises'
import { createFile, replaceFile } from '@x/core/node'
import { type KeyLine, parseKeyLines } from '@x/state-codec'
import { CliError } from '../cli-error.ts'

const maxFileBytes = 65_536

/**
 * Reads the keys of a file, in the format of {@link parseKeyLines}.
 *
 * @throws CliError if the file cannot be read or has no keys.
 */
export async function readKeysFile(path: string): Promise<readonly KeyLine[]> {
  const text = await readFile(path, 'utf8').catch((cause: Error) => {
    const reason = `${cause.message}\nGive its path, or make one with: mcpx keys new --keys-file FILE`
    throw new CliError('usage', `The keys file cannot be read: ${reason}`, { cause })
  })
  if (text.length > maxFileBytes) throw new CliError('usage', `${path} is too large to be a file of keys`)
  const keys = parseKeyLines(text)
  if (keys.length === 0)
    throw new CliError('usage', `${path} has no keys; make a file with: mcpx keys new --keys-file FILE`)
  return keys
}

/** Only its owner can read the file. Rejects if it exists. */
export async function createKeysFile(path: string, lines: readonly string[]): Promise<void> {
  await createFile(path, textOf(lines), ownerOnly).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'EEXIST' ? `${path} exists; a key is never overwritten` : cause.message
    throw new CliError('failure', reason, { cause })
  })
}

/** Replaces a file of keys in one step, so that no reader sees half of it. */
export async function replaceKeysFile(path: string, lines: readonly string[]): Promise<void> {
  await replaceFile(path, textOf(lines), ownerOnly).catch((cause: Error) => {
    throw new CliError('failure', cause.message, { cause })
  })
}

const ownerOnly = 0o600

function textOf(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`
}

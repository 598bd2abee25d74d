import { randomBytes } from 'node:crypto'
import { parseJsonObject } from '@x/core'
import { type KeyLine, sealedState } from '@x/state-codec'
import { CliError, type ExitCode } from '../cli-error.ts'
import type { CommandContext } from '../command.ts'
import { printTable } from '../output/printer.ts'
import { createKeysFile, readKeysFile, replaceKeysFile } from './keys-file.ts'

/** Writes a new key to the standard output, or to a new file. */
export async function newKey({ printer }: CommandContext, { keysFile }: { keysFile?: string }): Promise<ExitCode> {
  const key = randomBytes(32).toString('base64url')
  if (keysFile === undefined) {
    printer.result({ key }, key)
    return 0
  }
  await createKeysFile(keysFile, [key])
  const id = await keyIdOf({ line: key, input: key })
  printer.result({ file: keysFile, id }, `${keysFile} has the new key ${id}. Give the same file to every instance.`)
  return 0
}

/** Checks the keys of a file, and lists their ids in the order of the file. The keys themselves are never shown. */
export async function runCheckCommand(
  { printer }: CommandContext,
  { keysFile, token }: { keysFile: string; token?: string },
): Promise<ExitCode> {
  const keys = await readKeysFile(keysFile)
  const ids = await listKeyIds(keys)
  const sealingId = token === undefined ? undefined : tokenKeyIdOf(token)
  const isKnown = sealingId === undefined || ids.includes(sealingId)
  if (printer.isJson) {
    printer.json({
      keys: ids.map((id, index) => ({ id, seals: index === 0 })),
      ...(sealingId && { sealingId, isKnown }),
    })
    return isKnown ? 0 : 1
  }
  const columns = [
    { title: 'KEY', text: ({ id }: { id: string }) => id },
    { title: 'USE', text: ({ use }: { use: string }) => use },
  ]
  printTable<{ id: string; use: string }>(
    printer,
    columns,
    ids.map((id, index) => ({ id, use: index === 0 ? 'seals and opens' : 'opens' })),
  )
  if (sealingId === undefined) return 0
  if (isKnown) printer.line(`The token was sealed with the key ${sealingId}.`)
  else printer.line(`The token was sealed with the key ${sealingId}, which is not in ${keysFile}.`)
  return isKnown ? 0 : 1
}

const rotationSteps = {
  add: {
    change: (lines: readonly string[]) => [...lines, randomBytes(32).toString('base64url')],
    next: 'Deploy the file to every instance. When all have it, run: mcpx keys rotate use --keys-file',
  },
  use: {
    change: (lines: readonly string[]) => [...lines.slice(-1), ...lines.slice(0, -1)],
    next: 'Deploy the file to every instance. After the longest lifetime of a call (24 hours by default), run: mcpx keys rotate drop --keys-file',
  },
  drop: {
    change: (lines: readonly string[]) => lines.slice(0, 1),
    next: 'Deploy the file to every instance. Tokens of the old keys are rejected from then on.',
  },
} as const

/** Performs one step of a rotation on a file of keys. */
export async function rotateKeys(
  { printer }: CommandContext,
  { keysFile }: { keysFile: string },
  [step = '']: readonly string[],
): Promise<ExitCode> {
  if (step !== 'add' && step !== 'use' && step !== 'drop')
    throw new CliError('usage', `"${step}" is not a step of a rotation; write add, use or drop`)
  const keys = await readKeysFile(keysFile)
  await listKeyIds(keys)
  if (step !== 'add' && keys.length === 1)
    throw new CliError(
      'failure',
      `${keysFile} has one key, so there is nothing to ${step}; begin with: mcpx keys rotate add --keys-file ${keysFile}`,
    )
  const { change, next: advice } = rotationSteps[step]
  const next = step === 'drop' ? advice : `${advice} ${keysFile}`
  const lines = change(keys.map(({ line }) => line))
  await replaceKeysFile(keysFile, lines)
  const ids = await listKeyIds(await readKeysFile(keysFile))
  printer.result({ keys: ids, next }, `${keysFile} has the keys ${ids.join(', ')}; ${ids[0]} seals.\n${next}`)
  return 0
}

/**
 * Returns the ids of keys, as tokens name them.
 *
 * @throws StateUsageError for an invalid key, with its index.
 */
async function listKeyIds(keys: readonly KeyLine[]): Promise<readonly string[]> {
  // The codec checks the keys together: none may be given twice.
  sealedState({ keys: keys.map(({ input }) => input) })
  return Promise.all(keys.map(keyIdOf))
}

async function keyIdOf({ input }: KeyLine): Promise<string> {
  return tokenKeyIdOf(await sealedState({ keys: [input] }).seal(null, { purpose: 'requestState' }))
}

/** Reads the header of a token without verifying it. */
export function tokenKeyIdOf(token: string): string {
  const [header = ''] = token.split('.', 1)
  const { kid } = parseJsonObject(Buffer.from(header, 'base64url').toString('utf8')) ?? {}
  if (typeof kid === 'string') return kid
  throw new CliError('usage', 'The token names no key: it is not a sealed token, or it was cut off')
}

import { readFile } from 'node:fs/promises'
import { isJsonObject, parseJsonObject } from '@x/core'
import { openPinFile } from '@x/gateway/node'
import { CliError, type ExitCode } from '../cli-error.ts'
import type { CommandContext } from '../command.ts'

/** Removes the digest of a tool, so that a gateway accepts its next definition. */
export async function acceptTool(
  { printer }: CommandContext,
  { pins }: { readonly pins: string },
  [upstream = '', tool = '']: readonly string[],
): Promise<ExitCode> {
  const text = await readFile(pins, 'utf8').catch((cause: Error) => {
    const reason = `${cause.message}\nWrite the path that the gateway has as \`pins\`. It creates the file with its first list.`
    throw new CliError('usage', `The pins file cannot be read: ${reason}`, { cause })
  })
  const isRemoved = await openPinFile(pins).remove(upstream, tool)
  if (!isRemoved) throw new CliError('failure', describeKnown(pins, text, { upstream, tool }))
  printer.result({ upstream, tool, accepted: true }, `The next definition of ${tool} is accepted.`)
  return 0
}

function describeKnown(
  path: string,
  text: string,
  { upstream, tool }: { readonly upstream: string; readonly tool: string },
): string {
  const file = parseJsonObject(text) ?? {}
  const tools = Object.hasOwn(file, upstream) ? file[upstream] : undefined
  if (!isJsonObject(tools)) return `${path} has no upstream ${upstream}; it has ${listNames(file)}`
  return `${path} has no tool ${tool} of the upstream ${upstream}; it has ${listNames(tools)}`
}

const maxShownNames = 20

function listNames(record: object): string {
  const names = Object.keys(record)
  const rest = names.length > maxShownNames ? `, and ${names.length - maxShownNames} more` : ''
  return names.length === 0 ? 'none' : `${names.slice(0, maxShownNames).join(', ')}${rest}`
}

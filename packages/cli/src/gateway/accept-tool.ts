import { openPinFile } from '@x/gateway/node'
import { CliError, type ExitCode } from '../cli-error.ts'
import type { CommandContext } from '../command.ts'

/** Removes the digest of a tool, so that a gateway accepts its next definition. */
export async function acceptTool(
  { printer }: CommandContext,
  { pins }: { readonly pins: string },
  [upstream = '', tool = '']: readonly string[],
): Promise<ExitCode> {
  const isRemoved = await openPinFile(pins).remove(upstream, tool)
  if (!isRemoved) throw new CliError('failure', `${pins} has no tool ${tool} of the upstream ${upstream}`)
  if (printer.isJson) printer.json({ upstream, tool, accepted: true })
  else printer.line(`The next definition of ${tool} is accepted.`)
  return 0
}

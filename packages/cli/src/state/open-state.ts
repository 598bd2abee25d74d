import { inspectState, type StateReport } from '@x/server/inspect'
import { isStateError } from '@x/state-codec'
import { CliError, type ExitCode } from '../cli-error.ts'
import type { CommandContext } from '../command.ts'
import { readKeysFile } from '../keys/keys-file.ts'
import { tokenKeyIdOf } from '../keys/manage-keys.ts'
import type { Printer } from '../output/printer.ts'
import { toDisplayLine } from '../terminal/display-text.ts'

/** Opens a `requestState` with the keys of a file. */
export async function openReport(token: string, keysFile: string): Promise<StateReport> {
  const keys = await readKeysFile(keysFile)
  const text = token.trim()
  // Throws for a text that is no token, with a message that says so.
  const keyId = tokenKeyIdOf(text)
  try {
    return await inspectState(text, { keys: keys.map(({ input }) => input) })
  } catch (error) {
    if (!isStateError(error)) throw error
    const check = `mcpx keys check --keys-file ${keysFile} lists the keys of the file`
    const problem = error.code === 'unknown_key' ? `It was sealed with the key ${keyId}: ${check}` : error.detail
    throw new CliError('failure', `The state does not open with these keys. ${problem}`, { cause: error })
  }
}

export async function runOpenCommand(
  { printer }: CommandContext,
  { keysFile }: { readonly keysFile: string },
  [token = '']: readonly string[],
): Promise<ExitCode> {
  const { journal: _, ...report } = await openReport(token, keysFile)
  if (printer.isJson) printer.json(report)
  else printReport(printer, report)
  return 0
}

function printReport(printer: Printer, report: Omit<StateReport, 'journal'>): void {
  const { keyId, sealedAt, expiresAt, audience, callId, startedAt, round, handOffCount } = report
  const isExpired = expiresAt < Date.now()
  const lines: readonly (readonly [string, string])[] = [
    ['call', callId],
    ['began', toTime(startedAt)],
    ['sealed', `${toTime(sealedAt)}, with the key ${keyId}`],
    [isExpired ? 'expired' : 'expires', toTime(expiresAt)],
    ['audience', audience ?? '-'],
    ['round', String(round)],
    ['hand-offs', String(handOffCount)],
  ]
  for (const [name, text] of lines) printer.line(`${printer.color('dim', name.padEnd(10))} ${toDisplayLine(text)}`)
  const questions = report.questions.map(({ key, answer }) => [key, answer ?? 'not answered yet'] as const)
  printSection(printer, 'questions', questions)
  printSection(printer, 'steps', Object.entries(report.steps))
  printSection(printer, 'checkpoints', Object.entries(report.checkpoints))
}

function printSection(printer: Printer, title: string, entries: readonly (readonly [string, unknown])[]): void {
  if (entries.length === 0) return
  printer.line(printer.color('bold', title))
  for (const [key, value] of entries) {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    printer.line(`  ${toDisplayLine(key)}: ${toDisplayLine(text)}`)
  }
}

function toTime(ms: number): string {
  return new Date(ms).toISOString()
}

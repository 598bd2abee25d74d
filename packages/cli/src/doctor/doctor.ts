import { CliError, type ExitCode } from '../cli-error.ts'
import type { CommandContext } from '../command.ts'
import { readJsonOption } from '../json-option.ts'
import { type Printer, wrapWords } from '../output/printer.ts'
import { toDisplayLine } from '../terminal/display-text.ts'
import { checkIds, type Finding } from './check.ts'
import { runChecks } from './run-checks.ts'

/** The options of the command. */
export interface DoctorCommandOptions {
  readonly token?: string
  readonly tool?: string
  readonly args: string
  readonly publish?: boolean
}

/** A finding, with the id of its check. */
type IdentifiedFinding = Finding & { readonly id: string }

/** Examines the server at an address, or a project before its publication. The exit code is 1 if there is a fault. */
export async function examineServer(
  { printer, io }: CommandContext,
  { token, tool, args, publish }: DoctorCommandOptions,
  [target = '']: readonly string[],
): Promise<ExitCode> {
  const findings: IdentifiedFinding[] = []
  const onFinding = (id: string, finding: Finding): void => {
    findings.push({ id, ...finding })
    if (!printer.isJson) printFinding(printer, id, finding)
  }
  if (publish === true) {
    const { runPublishChecks } = await import('../publish/check-publish.ts')
    await runPublishChecks(target, onFinding)
  } else {
    const namedTool = tool === undefined ? undefined : { name: tool, args: readJsonOption('args', args) }
    await runChecks({ url: readAddress(target), token, tool: namedTool, signal: io.signal }, onFinding)
  }
  return printTotals(printer, target, findings)
}

function printTotals(printer: Printer, target: string, findings: readonly IdentifiedFinding[]): ExitCode {
  const count = (status: Finding['status']): number => findings.filter((finding) => finding.status === status).length
  const totals = { ok: count('ok'), wrong: count('wrong'), skipped: count('skipped') }
  if (printer.isJson) printer.json({ target, ...totals, checks: findings.map((finding) => ({ ...finding })) })
  else printer.line(`\n${totals.ok} right, ${totals.wrong} wrong, ${totals.skipped} skipped.`)
  return totals.wrong === 0 ? 0 : 1
}

function readAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new CliError('usage', `"${address}" is no URL; write the address of a server, such as https://example.com/mcp`)
}

const idWidth = Math.max(...checkIds.map((id) => id.length))

function printFinding(printer: Printer, id: string, finding: Finding): void {
  const colors = { ok: 'green', wrong: 'red', skipped: 'dim' } as const
  const words = { ok: 'ok   ', wrong: 'WRONG', skipped: 'skip ' } as const
  const { status, found } = finding
  const indent = ' '.repeat(words.ok.length + idWidth + 2)
  const width = printer.width === undefined ? undefined : printer.width - indent.length
  const [first = '', ...others] = wrapWords(toDisplayLine(found), width)
  printer.line(`${printer.color(colors[status], words[status])} ${id.padEnd(idWidth)} ${first}`)
  for (const line of others) printer.line(indent + line)
  if (status !== 'wrong') return
  for (const line of wrapWords(toDisplayLine(finding.change), width)) printer.line(indent + printer.color('bold', line))
}

import { CliError, type ExitCode } from '../cli-error.ts'
import type { CommandContext } from '../command.ts'
import { readJsonOption } from '../json-option.ts'
import { type Printer, wrapWords } from '../output/printer.ts'
import { toDisplayLine } from '../terminal/display-text.ts'
import { ServerOutput } from '../calls/server-output.ts'
import { createLogin, readAccessToken } from '../calls/stored-login.ts'
import { parseTargetText, type Program, type ServerTarget } from '../calls/target.ts'
import { type CheckId, checkIds, type Finding } from './check.ts'
import { startCommandServer } from './command-probe.ts'
import { type DoctorOptions, runChecks } from './run-checks.ts'

export interface DoctorCommandOptions {
  readonly token?: string
  readonly tool?: string
  readonly args: string
  readonly publish?: boolean
  readonly verbose?: boolean
}

type IdentifiedFinding = Finding & { readonly id: string }

/** Examines a server, or a project before its publication. The exit code is 1 if there is a fault. */
export async function examineServer(
  { printer, io }: CommandContext,
  { token, tool, args, publish, verbose }: DoctorCommandOptions,
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
    return printTotals(printer, target, findings)
  }
  const namedTool = tool === undefined ? undefined : { name: tool, args: readJsonOption('args', args) }
  const options = { token, tool: namedTool, signal: io.signal }
  const server = parseDoctorTarget(target)
  if (server instanceof URL) {
    const storedToken = token ?? (await readAccessToken(createLogin(), server, io.signal))
    await runChecks({ url: server, ...options, token: storedToken }, onFinding)
  } else {
    const output = new ServerOutput(io, verbose === true)
    await checkCommand({ server, output }, options, onFinding)
    if (findings.some(({ status }) => status === 'wrong')) output.show()
  }
  return printTotals(printer, target, findings)
}

async function checkCommand(
  { server, output }: { readonly server: Program; readonly output: ServerOutput },
  options: Omit<DoctorOptions, 'url' | 'send'>,
  onFinding: (id: CheckId, finding: Finding) => void,
): Promise<void> {
  await using process = startCommandServer(server, { signal: options.signal, onLine: (line) => output.add(line) })
  const url = new URL(`stdio:${encodeURIComponent(server.command)}`)
  await runChecks({ url, send: process.send, ...options }, onFinding)
}

function printTotals(printer: Printer, target: string, findings: readonly IdentifiedFinding[]): ExitCode {
  const count = (status: Finding['status']): number => findings.filter((finding) => finding.status === status).length
  const totals = { ok: count('ok'), wrong: count('wrong'), skipped: count('skipped') }
  const text = `\n${totals.ok} right, ${totals.wrong} wrong, ${totals.skipped} skipped.`
  printer.result({ target, ...totals, checks: findings }, text)
  return totals.wrong === 0 ? 0 : 1
}

/** An address without `http:` would otherwise be started as a program of that name. */
function parseDoctorTarget(text: string): ServerTarget {
  const target = text.trim() === '' ? undefined : parseTargetText(text)
  if (target instanceof URL) return target
  const isAddress = target === undefined || /^[a-z]+:\/\/|^[^\s/]+\.[a-z]+(?::\d+)?(?:\/|$)|^localhost\b/i.test(text)
  if (!isAddress) return target
  throw new CliError('usage', `"${text}" is not a URL; write https://example.com/mcp, or the command after --`)
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

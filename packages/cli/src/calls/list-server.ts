import type { Client } from '@x/client'
import type { Tool } from '@x/schema'
import { CliError, type ExitCode } from '../cli-error.ts'
import type { CommandContext } from '../command.ts'
import { type Column, printTable, type Printer } from '../output/printer.ts'
import { toDisplayLine } from '../terminal/display-text.ts'
import { type TargetOptions, withClient } from './connect-target.ts'
import { createLogin, findOwnUrl, readAccessToken } from './stored-login.ts'

export interface ListCommandOptions extends TargetOptions {
  readonly showToken?: boolean
}

interface Entry {
  readonly name: string
  readonly description: string
}

/** Shows what a server offers: its tools, prompts, resources and templates of resources. */
export async function listServer(
  { io, printer }: CommandContext,
  options: ListCommandOptions,
  [target = '']: readonly string[],
): Promise<ExitCode> {
  return withClient(target, { options, io }, async (client) => {
    const { lists, instructions, name } = await readServer(client, io.signal)
    if (options.showToken === true) return writeToken(printer, target, io.signal)
    if (printer.isJson) {
      printer.json({ server: client.serverInfo, instructions, ...lists })
      return 0
    }
    printer.line(printer.color('bold', toDisplayLine(name)))
    // Each line is indented, so that none looks like the head of a list below.
    for (const line of instructions?.split('\n') ?? []) printer.line(`  ${toDisplayLine(line)}`)
    if (Object.values(lists).every(({ length }) => length === 0)) printer.line('  It offers nothing now.')
    printEntries(printer, 'TOOL', lists.tools.map(entryOf))
    printEntries(printer, 'PROMPT', lists.prompts.map(entryOf))
    printEntries(
      printer,
      'RESOURCE',
      lists.resources.map((one) => ({ ...entryOf(one), name: one.uri })),
    )
    printEntries(
      printer,
      'TEMPLATE',
      lists.resourceTemplates.map((one) => ({ ...entryOf(one), name: one.uriTemplate })),
    )
    return 0
  })
}

async function writeToken(printer: Printer, target: string, signal: AbortSignal): Promise<ExitCode> {
  const token = URL.canParse(target) ? await readOwnToken(new URL(target), signal) : undefined
  if (token === undefined) throw new CliError('failure', `There is no login at ${target}`)
  printer.result({ token }, token)
  return 0
}

/** The login may be at another spelling of the URL, which the server gives as its own. */
async function readOwnToken(url: URL, signal: AbortSignal): Promise<string | undefined> {
  const auth = createLogin()
  const token = await readAccessToken(auth, url, signal)
  if (token !== undefined) return token
  const ownUrl = await findOwnUrl(url, signal)
  return ownUrl && readAccessToken(auth, ownUrl, signal)
}

async function readServer(client: Client, signal: AbortSignal) {
  const { capabilities, instructions } = await client.discover({ signal })
  const hasResources = capabilities.resources !== undefined
  const lists = {
    tools: capabilities.tools === undefined ? [] : await client.listTools({ signal }),
    prompts: capabilities.prompts === undefined ? [] : await client.listPrompts({ signal }),
    resources: hasResources ? await client.listResources({ signal }) : [],
    resourceTemplates: hasResources ? await client.listResourceTemplates({ signal }) : [],
  }
  const { name = 'A server without a name', version = '' } = client.serverInfo ?? {}
  return { lists, instructions, name: `${name} ${version}`.trim() }
}

function entryOf({ name, description, title }: Pick<Tool, 'name' | 'description' | 'title'>): Entry {
  return { name, description: description ?? title ?? '' }
}

function printEntries(printer: Printer, title: string, entries: readonly Entry[]): void {
  if (entries.length === 0) return
  const columns: readonly Column<Entry>[] = [
    { title, text: ({ name }) => name },
    { title: '', text: ({ description }) => description },
  ]
  printer.line()
  printTable(printer, columns, entries)
}

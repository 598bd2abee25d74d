import { formatCount } from '@x/core'
import { legacy } from '@x/legacy'
import { describeOpenApi, type OpenApiOptions, openApiTools, type PlannedOperation } from '@x/openapi'
import { readOpenApi } from '@x/openapi/node'
import { createServer, type Tool } from '@x/server'
import { serveStdio } from '@x/transport-stdio'
import { CliError, type ExitCode } from '../cli-error.ts'
import type { CommandContext } from '../command.ts'
import { type Column, printTable } from '../output/printer.ts'

export interface OpenApiCommandOptions {
  readonly operations?: string
  readonly serve?: boolean
  readonly url?: string
}

const columns: readonly Column<PlannedOperation>[] = [
  { title: 'TOOL', text: (each) => (each.refused === undefined ? each.name : '-') },
  { title: 'OPERATION', text: ({ method, path }) => `${method} ${path}` },
  { title: 'CHARACTERS', text: (each) => (each.refused === undefined ? String(each.size) : '') },
  { title: 'NOTES', text: describeNotes },
]

function describeNotes(each: PlannedOperation): string {
  if (each.refused !== undefined) return each.refused
  return [each.asks ? 'asks' : '', each.cut === undefined ? '' : 'loosened'].filter((note) => note !== '').join(', ')
}

/** Lists the operations of a document, or serves their tools over stdio until the host closes the stream. */
export async function runOpenApi(
  { printer }: CommandContext,
  { operations: names, serve = false, url }: OpenApiCommandOptions,
  [file = '']: readonly string[],
): Promise<ExitCode> {
  if (serve !== (url !== undefined))
    throw new CliError('usage', serve ? '--serve needs --url, the address of the API' : '--url needs --serve')
  const document = await readOpenApi(file)
  const operations = names === undefined ? undefined : createFilter(names.split(',').map((name) => name.trim()))
  if (url !== undefined) return serveTools(openApiTools(document, { url, operations }), file)
  const planned = describeOpenApi(document, { operations })
  const made = planned.flatMap((each) => (each.refused === undefined ? [each] : []))
  const characters = made.reduce((sum, { size }) => sum + size + 1, 0)
  if (printer.isJson) printer.json({ operations: planned, tools: made.length, characters })
  else {
    printTable(printer, columns, planned)
    printer.line(
      `${formatCount(made.length, 'tool')} of ${formatCount(planned.length, 'operation')}, a list of ${characters} characters`,
    )
  }
  return made.length === 0 ? 1 : 0
}

function serveTools(tools: readonly Tool[], file: string): ExitCode {
  if (tools.length === 0) throw new CliError('failure', `${file} has no operation that becomes a tool`)
  serveStdio(createServer({ name: 'openapi', version: '1.0.0', tools, extensions: [legacy()] }))
  return 0
}

function createFilter(names: readonly string[]): NonNullable<OpenApiOptions['operations']> {
  return ({ method, path, operationId = '' }) =>
    [method, operationId, `${method} ${path}`].some((name) => names.includes(name))
}

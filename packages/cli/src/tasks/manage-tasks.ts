import { existsSync } from 'node:fs'
import { formatDuration } from '@x/core'
import { type CancelOutcome, type RevokeOutcome, type StoreAdmin, taskAdmin, type TaskFilter } from '@x/tasks/admin'
import { CliError, type ExitCode } from '../cli-error.ts'
import type { CommandContext } from '../command.ts'
import { type Column, type Printer, printTable } from '../output/printer.ts'
import { toDisplayLine, toDisplayText } from '../terminal/display-text.ts'

export interface StoreOptions {
  readonly store: string
}

export interface ListOptions extends StoreOptions, Pick<TaskFilter, 'status' | 'tool' | 'owner' | 'minFailures'> {
  readonly olderThan?: number
  readonly limit: number
  readonly cursor?: string
}

const maxPageSize = 1000

async function withAdmin<T>(store: string, run: (admin: StoreAdmin) => Promise<T>): Promise<T> {
  if (store === 'memory:')
    throw new CliError('usage', '"memory:" exists in the process of its server only; give the store of a fleet')
  const folder = /^pglite:(.+)$/.exec(store)?.[1]
  // The engine would create it, and a misspelt one would look like a store without tasks.
  if (folder !== undefined && !existsSync(folder))
    throw new CliError('usage', `there is no folder ${folder}, so there are no tasks in it`)
  const admin = openAdmin(store)
  try {
    return await run(admin)
  } catch (error) {
    throw toStoreError(error)
  } finally {
    await admin.close()
  }
}

function openAdmin(store: string): StoreAdmin {
  try {
    return taskAdmin(store)
  } catch (cause) {
    if (cause instanceof RangeError) throw new CliError('usage', cause.message, { cause })
    throw cause
  }
}

/**
 * An error of a store becomes one that the operator can act on, without a stack trace. One of a class of JavaScript,
 * such as a `TypeError`, is a fault of this program, and stays.
 */
function toStoreError(error: unknown): unknown {
  if (error instanceof RangeError) return new CliError('usage', error.message, { cause: error })
  if (!(error instanceof Error) || error.name !== 'Error') return error
  const code = 'code' in error ? error.code : undefined
  // The store has named the missing package, and the command to install it.
  if (code === 'ERR_MODULE_NOT_FOUND' && error.message.includes('npm install'))
    return new CliError('failure', `${error.message} (beside @x/cli)`, { cause: error })
  return code === undefined ? new CliError('failure', error.message, { cause: error }) : error
}

type Summary = Awaited<ReturnType<StoreAdmin['list']>>['tasks'][number]

const summaryColumns: readonly Column<Summary>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'TOOL', text: ({ tool }) => tool },
  { title: 'STATUS', text: ({ status, state }) => (state === undefined ? status : `${status} (${state})`) },
  { title: 'CREATED', text: ({ createdAt }) => new Date(createdAt).toISOString() },
  { title: 'ATTEMPT', text: ({ attempt }) => String(attempt) },
  { title: 'FAILURES', text: ({ failures }) => String(failures) },
  { title: 'DUE', text: ({ dueInMs }) => (dueInMs === undefined ? '-' : formatDuration(dueInMs)) },
  { title: 'WORKER', text: ({ worker }) => worker ?? '-' },
  { title: 'OWNER', text: ({ owner }) => owner },
  { title: 'MESSAGE', text: ({ statusMessage }) => statusMessage ?? '' },
]

/** The newest first. */
export async function runListCommand({ printer }: CommandContext, options: ListOptions): Promise<ExitCode> {
  const { store, olderThan, limit, status, tool, owner, minFailures, cursor } = options
  if (limit > maxPageSize) throw new CliError('usage', `--limit is at most ${maxPageSize}`)
  const query = { status, tool, owner, minFailures, cursor, limit, olderThanMs: olderThan }
  const page = await withAdmin(store, (admin) => admin.list(query))
  if (printer.isJson) {
    printer.json(page)
    return 0
  }
  if (page.tasks.length === 0) printer.line('There are no such tasks.')
  else printTable(printer, summaryColumns, page.tasks)
  if (page.nextCursor !== undefined) printer.note(`More tasks: --cursor '${toDisplayLine(page.nextCursor)}'`)
  return 0
}

/** Shows a task with its requests, its result or its error. */
export async function showTask(
  { printer }: CommandContext,
  { store }: StoreOptions,
  [id = '']: readonly string[],
): Promise<ExitCode> {
  const task = await withAdmin(store, (admin) => admin.show(id))
  if (task === undefined) throw unknownTask(id)
  if (printer.isJson) printer.json(task)
  else printMembers(printer, task)
  return 0
}

function printMembers(printer: Printer, task: object): void {
  const members: [string, unknown][] = Object.entries(task).filter(([, member]) => member !== undefined)
  const width = Math.max(...members.map(([name]) => name.length))
  for (const [name, member] of members) {
    const text = typeof member === 'string' ? toDisplayLine(member) : JSON.stringify(member, undefined, 2)
    const shown = /(?:At)$/.test(name) && typeof member === 'number' ? new Date(member).toISOString() : text
    printer.line(`${printer.color('dim', name.padEnd(width))}  ${toDisplayText(shown)}`)
  }
}

/** Counts tasks that have not ended. */
export async function runCountsCommand({ printer }: CommandContext, { store }: StoreOptions): Promise<ExitCode> {
  const counts = await withAdmin(store, (admin) => admin.counts())
  if (printer.isJson) {
    printer.json({ counts })
    return 0
  }
  if (counts.length === 0) {
    printer.line('All tasks have ended.')
    return 0
  }
  type Count = (typeof counts)[number]
  const columns: readonly Column<Count>[] = [
    { title: 'TOOL', text: ({ tool }) => tool },
    { title: 'STATUS', text: ({ status }) => status },
    { title: 'STATE', text: ({ state }) => state },
    { title: 'COUNT', text: ({ count }) => String(count) },
    { title: 'OLDEST', text: ({ oldestAgeMs }) => formatDuration(oldestAgeMs) },
  ]
  printTable(printer, columns, counts)
  return 0
}

const cancelTexts: Readonly<Record<CancelOutcome, string>> = {
  unknown: 'does not exist',
  cancelled: 'is cancelled',
  notified: 'is being cancelled: its worker stops it, or the next one if that is dead',
  finished: 'had ended before',
}

const revokeTexts: Readonly<Record<RevokeOutcome, string>> = {
  unknown: 'does not exist',
  waiting: 'waits for its client, so no worker has it',
  finished: 'had ended before',
  revoked: 'is ready to be claimed by any worker',
}

/** The exit code is 1 if nothing was cancelled. */
export const runCancelCommand = createChangeCommand((admin, id) => admin.cancel(id), cancelTexts)

/** Takes a task from its worker. The exit code is 1 if no worker can claim it now. */
export const runRevokeCommand = createChangeCommand((admin, id) => admin.revoke(id), revokeTexts)

function createChangeCommand<Outcome extends CancelOutcome | RevokeOutcome>(
  change: (admin: StoreAdmin, id: string) => Promise<Outcome>,
  texts: Readonly<Record<Outcome, string>>,
) {
  return async (
    { printer }: CommandContext,
    { store }: StoreOptions,
    [id = '']: readonly string[],
  ): Promise<ExitCode> => {
    const outcome = await withAdmin(store, (admin) => change(admin, id))
    printer.result({ id, outcome }, `The task ${toDisplayLine(id)} ${texts[outcome]}.`)
    return outcome === 'cancelled' || outcome === 'notified' || outcome === 'revoked' ? 0 : 1
  }
}

function unknownTask(id: string): CliError {
  return new CliError('failure', `The task ${id} does not exist, or its lifetime has ended`)
}

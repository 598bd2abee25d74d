import { Command, Option } from 'commander'
import { CliError } from '../cli-error.ts'
import { type CommandHost, createCommand, parseCount, parseTimeSpan } from '../command.ts'
import type { ListOptions, StoreOptions } from '../tasks/manage-tasks.ts'

/** The address may have a password, so the environment can give it, too. */
function withStore(command: Command): Command {
  const option = new Option(
    '--store <url>',
    'the store of the server: postgres://…, redis://…, or pglite: and a folder',
  )
  return command.addOption(option.env('MCPX_STORE')).hook('preAction', () => {
    if (command.getOptionValue('store') !== undefined) return
    throw new CliError('usage', 'The command needs the address of a store: set MCPX_STORE, or give --store <url>')
  })
}

export function tasksCommand(host: CommandHost): Command {
  return new Command('tasks')
    .description('Lists, counts, cancels and revokes the tasks of a server, in its store.')
    .addCommand(taskListCommand(host))
    .addCommand(
      idCommand(host, 'show', 'Shows a task with its requests, its result or its error.', async () => {
        return (await import('../tasks/manage-tasks.ts')).showTask
      }),
    )
    .addCommand(
      idCommand(host, 'cancel', 'Cancels a task, at once or through the worker that runs it.', async () => {
        return (await import('../tasks/manage-tasks.ts')).runCancelCommand
      }),
    )
    .addCommand(
      idCommand(
        host,
        'revoke',
        'Takes a task from a worker that makes no progress, so that any worker can claim it.',
        async () => {
          return (await import('../tasks/manage-tasks.ts')).runRevokeCommand
        },
      ),
    )
    .addCommand(
      withStore(
        createCommand<StoreOptions>(
          host,
          {
            usage: 'counts',
            description: 'Counts the tasks that have not ended, by tool and state, with the age of the oldest.',
            example: 'tasks counts --store postgres://localhost/app',
          },
          async () => (await import('../tasks/manage-tasks.ts')).runCountsCommand,
        ),
      ),
    )
}

function taskListCommand(host: CommandHost): Command {
  const command = createCommand<ListOptions>(
    host,
    {
      usage: 'list',
      description: 'Lists tasks, the newest first.',
      example: 'tasks list --status working --min-failures 1 --store postgres://localhost/app',
    },
    async () => (await import('../tasks/manage-tasks.ts')).runListCommand,
  )
  const statuses = ['working', 'input_required', 'completed', 'failed', 'cancelled']
  return withStore(command)
    .addOption(new Option('--status <status>', 'only tasks of this status').choices(statuses))
    .option('--tool <name>', 'only tasks of this tool')
    .option('--owner <key>', 'only tasks of this owner, as the list shows it')
    .option('--older-than <time>', 'only tasks of at least this age, such as 5m', parseTimeSpan)
    .option('--min-failures <number>', 'only tasks with at least this number of failures', parseCount)
    .option('--limit <number>', 'the largest number of tasks, at most 1000', parseCount, 100)
    .option('--cursor <cursor>', 'the cursor that the previous list ended with')
}

function idCommand(
  host: CommandHost,
  name: string,
  description: string,
  loadWork: Parameters<typeof createCommand<StoreOptions>>[2],
): Command {
  const texts = {
    usage: `${name} <id>`,
    description,
    example: `tasks ${name} ID --store postgres://localhost/app`,
  }
  return withStore(createCommand<StoreOptions>(host, texts, loadWork))
}

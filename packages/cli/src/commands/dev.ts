import { type Command, InvalidArgumentError } from 'commander'
import { type CommandHost, createCommand, parsePort } from '../command.ts'
import { tokenOption } from './calls.ts'
import type { DevCommandOptions } from '../dev/start-dev.ts'

export function devCommand(host: CommandHost): Command {
  return createCommand<DevCommandOptions>(
    host,
    {
      usage: 'dev <target>',
      description:
        'Opens a page for the author of a server: calls, questions, every message, and what happens when a response is ' +
        'lost. Starts the server again after each change of its files, while questions stay open. The target is a ' +
        'module that exports its server, the command that starts it, in quotes or after --, or a URL.',
      example: 'dev dist/server.js',
    },
    async () => (await import('../dev/start-dev.ts')).startDev,
  )
    .option(
      '--watch <folder>',
      'restart after changes in this folder instead of those in the command; repeatable',
      collect,
    )
    .option('--instances <number>', 'processes that serve a module in turns, from 1 to 8; 2 by default', parseInstances)
    .option('--port <number>', 'the port of the page; by default 6280, or the next free one', parsePort)
    .addOption(tokenOption())
    .option('--as <name=token>', 'the access token of a second user, for the fault "other user"')
    .option('--no-hosts', 'serve no hosts at /mcp')
    .option('--no-open', 'do not open the page in the browser')
}

function parseInstances(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= 8) return count
  throw new InvalidArgumentError('Write a number from 1 to 8.')
}

function collect(folder: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, folder]
}

import { Command } from 'commander'
import { type CommandHost, createCommand } from '../command.ts'
import type { ReplayOptions } from '../state/replay-call.ts'

const keysOption = ['--keys-file <file>', 'the file with the keys of the server, one on each line'] as const

export function stateCommand(host: CommandHost): Command {
  const open = createCommand<{ keysFile: string }>(
    host,
    {
      usage: 'open <token>',
      description:
        'Shows the questions, answers, steps and checkpoints in a requestState. Expiry and binding are not checked.',
      example: 'state open eyJhbGciOi… --keys-file state.keys',
    },
    async () => (await import('../state/open-state.ts')).runOpenCommand,
  ).requiredOption(...keysOption)
  return new Command('state').description('Shows the state that clients carry.').addCommand(open)
}

export function replayCommand(host: CommandHost): Command {
  return createCommand<ReplayOptions>(
    host,
    {
      usage: 'replay <token>',
      description:
        'Runs the handler of a call on this machine, from its requestState, to its next question or its end. Recorded ' +
        'steps return their results. The call stops before the first step that is not recorded, which is not executed.',
      example:
        'replay eyJhbGciOi… --keys-file state.keys --server ./dist/server.js --tool resolve --args \'{"id":17}\'',
    },
    async () => (await import('../state/replay-call.ts')).runReplayCommand,
  )
    .requiredOption(...keysOption)
    .requiredOption('--server <module>', 'a module that exports the server as "server" or by default')
    .option('--tool <name>', 'the tool of the call; not needed for a server with one tool')
    .option('--args <json>', 'the arguments of the call', '{}')
    .option('--answers <json>', 'the inputResponses of the request with this requestState, or a file with them', '{}')
    .option('--principal <json>', 'the caller, such as {"subject":"ada","scopes":["items:write"]}')
}
